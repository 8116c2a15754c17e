// hydro/cli/verbs.h — what each verb of the command line takes and does; one file a verb. The
// parser (main.cpp) fills the options, so that no verb knows CLI11.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hydro/base/catalogue.h"
#include "hydro/base/result.h"

namespace hydro::cli {

/// How a verb ended: the process's exit code, or an error to print.
using VerbResult = Result<ExitCode>;

struct ExportOptions {
  std::string target;
  std::string args = "[]";
  std::string kwargs = "{}";
  std::vector<std::string> inputs;
  std::string forward = "{}";
  std::string initialization = "recorded";
  std::string python;
  std::string output = "model.pt2";
};

[[nodiscard]] VerbResult export_verb(const ExportOptions& options);

struct CheckOptions {
  std::string job;
  std::vector<std::string> settings;  // "tune.num_samples=50"
  std::string format = "text";        // text | json
  bool coordinates = false;
};

[[nodiscard]] VerbResult check_verb(const CheckOptions& options);

struct TuneOptions {
  std::string job;
  std::vector<std::string> settings;
  std::string folder;  // empty: runs/NAME, then runs/NAME-2, ...
  bool quiet = false;  // errors only
  std::string progress =
      "auto";  // bar | plain | json | none; auto: bar on a terminal, else plain
};

[[nodiscard]] VerbResult tune_verb(const TuneOptions& options);

struct ShowOptions {
  std::string folder;
  std::string format = "text";       // text | json | csv
  std::vector<std::string> filters;  // "value>0.8"
  std::string sort;                  // "value", "-value"
  bool reverse = false;
};

[[nodiscard]] VerbResult show_verb(const ShowOptions& options);

struct ReplayOptions {
  std::string folder;
  std::int64_t trial = 0;
};

[[nodiscard]] VerbResult replay_verb(const ReplayOptions& options);

struct TokenizeOptions {
  std::string text;
  std::int64_t vocabulary = 1024;
  std::string output = "tokens.model";
};

[[nodiscard]] VerbResult tokenize_verb(const TokenizeOptions& options);

struct DoctorOptions {
  std::string format = "text";  // text | json
};

[[nodiscard]] VerbResult doctor_verb(const DoctorOptions& options);

struct ExplainOptions {
  std::string code;                   // "H0103", "list", or a run's folder
  std::optional<std::int64_t> trial;  // of that run
};

[[nodiscard]] VerbResult explain_verb(const ExplainOptions& options);

}  // namespace hydro::cli
