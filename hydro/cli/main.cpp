// The program's entry: parses the command line, runs one verb, turns what it says into an exit
// code.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "hydro/base/catalogue.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/cli/spinning.h"
#include "hydro/cli/verbs.h"
#include "hydro/train/train.h"

namespace hydro::cli {
namespace {

struct Options {
  ExportOptions exporting;
  CheckOptions check;
  TuneOptions tune;
  ShowOptions show;
  ReplayOptions replay;
  DoctorOptions doctor;
  ExplainOptions explain;
  TokenizeOptions tokenize;
};

using Chosen = std::function<VerbResult()>;

/// What main must know of a verb before and after it runs.
struct Verb {
  std::string_view name;
  bool computes = false;  // on libtorch: starts with short spins
  bool prints = false;    // its answer; the others leave theirs on disk
};

constexpr std::array kVerbs = {Verb{.name = "export"},
                               Verb{.name = "check", .computes = true, .prints = true},
                               Verb{.name = "tune", .computes = true},
                               Verb{.name = "show", .prints = true},
                               Verb{.name = "replay", .computes = true, .prints = true},
                               Verb{.name = "tokenize"},
                               Verb{.name = "doctor", .computes = true, .prints = true},
                               Verb{.name = "explain", .prints = true}};

/// The first word's; --help and --version print.
Verb verb_of(int argc, char** argv) {
  const auto* found = argc > 1 ? std::ranges::find(kVerbs, argv[1], &Verb::name) : kVerbs.end();
  return found != kVerbs.end() ? *found : Verb{.name = {}, .prints = true};
}

/// Decimal digits: the parser itself would take an empty word for 0, and 0x1 for 1. Empty:
/// fits.
std::string fault_of_trial_number(const std::string& text) {
  constexpr std::size_t kMostDigits = 18;
  const bool is_number = !text.empty() && text.size() <= kMostDigits &&
                         text.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::string() : "`" + printable(text) + "` is no trial number";
}

CLI::Validator trial_number() {
  return CLI::Validator(fault_of_trial_number, "NUMBER");
}

void add_export(CLI::App& app, ExportOptions& options, Chosen& chosen) {
  CLI::App* verb = app.add_subcommand(
      "export", "writes a model archive (.pt2) from a Python callable; runs its Python");
  verb->add_option("target", options.target, "package.module:callable or ./file.py:callable")
      ->required();
  verb->add_option("--args", options.args, "positional arguments, JSON list");
  verb->add_option("--kwargs", options.kwargs, "keyword arguments, JSON object");
  verb->add_option(
          "--input", options.inputs, "float32[*,3,32,32] or name=int64[*,128]; * is the batch")
      ->required();
  verb->add_option(
      "--forward", options.forward, "forward arguments that are no tensors, JSON object");
  verb->add_option("--initialization",
                   options.initialization,
                   "recorded, or standard where a law cannot be recorded")
      ->check(CLI::IsMember({"recorded", "standard"}));
  verb->add_option("--python", options.python, "interpreter with your packages; default .venv");
  verb->add_option("-o,--output", options.output, "the archive");
  verb->footer(
      "Example: hydro export torchvision.models:resnet18 --kwargs '{\"num_classes\": 10}' "
      "--input 'float32[*,3,32,32]' -o model.pt2");
  verb->callback([&options, &chosen] { chosen = [&options] { return export_verb(options); }; });
}

void add_check(CLI::App& app, CheckOptions& options, Chosen& chosen) {
  CLI::App* verb = app.add_subcommand(
      "check", "reads everything, trains nothing: widths, roles, space, refusals");
  verb->add_option("job", options.job, "the job file")->required();
  verb->add_option("--set", options.settings, "a setting of the job: tune.num_samples=50");
  verb->add_option("--format", options.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  verb->add_flag("--coordinates", options.coordinates, "also runs the coordinate check");
  verb->footer("Example: hydro check job.yaml --format json");
  verb->callback([&options, &chosen] { chosen = [&options] { return check_verb(options); }; });
}

void add_tune(CLI::App& app, TuneOptions& options, Chosen& chosen) {
  CLI::App* verb = app.add_subcommand(
      "tune", "the main job: searches on surrogates, trains the best at full width");
  verb->add_option("job", options.job, "the job file")->required();
  verb->add_option("--set", options.settings, "a setting of the job: tune.num_samples=50");
  verb->add_option("-o,--output",
                   options.folder,
                   "the run's folder; default runs/NAME, then runs/NAME-2, ...");
  verb->add_option("--progress",
                   options.progress,
                   "bar, plain, json or none; default bar on a terminal, else plain")
      ->check(CLI::IsMember({"auto", "bar", "plain", "json", "none"}));
  verb->add_flag("-q,--quiet", options.quiet, "print errors only");
  verb->footer("Example: hydro tune job.yaml --set tune.num_samples=50 --set train.epochs=20");
  verb->callback([&options, &chosen] { chosen = [&options] { return tune_verb(options); }; });
}

void add_show(CLI::App& app, ShowOptions& options, Chosen& chosen) {
  CLI::App* verb =
      app.add_subcommand("show", "a study's state, best, target and trials; reads only");
  verb->add_option("folder", options.folder, "the run's folder")->required();
  verb->add_option("--format", options.format, "text, json or csv")
      ->check(CLI::IsMember({"text", "json", "csv"}));
  verb->add_option("--filter",
                   options.filters,
                   "only such trials: a column of trials.csv or the metric, one of = != < <= > "
                   ">=, a value; may be given again")
      ->allow_extra_args(false);
  verb->add_option("--sort", options.sort, "by this column; -COLUMN: largest first");
  verb->add_flag("--reverse", options.reverse, "the other way round");
  verb->footer("Example: hydro show runs/latest --filter 'value>0.8' --sort -value");
  verb->callback([&options, &chosen] { chosen = [&options] { return show_verb(options); }; });
}

void add_replay(CLI::App& app, ReplayOptions& options, Chosen& chosen) {
  CLI::App* verb = app.add_subcommand(
      "replay", "runs one trial again, alone, and says whether its numbers are the same");
  verb->add_option("folder", options.folder, "the run's folder")->required();
  verb->add_option("trial", options.trial, "its number; trials count from 0")
      ->required()
      ->check(trial_number());
  verb->footer("Example: hydro replay runs/latest 7");
  verb->callback([&options, &chosen] { chosen = [&options] { return replay_verb(options); }; });
}

void add_tokenize(CLI::App& app, TokenizeOptions& options, Chosen& chosen) {
  constexpr std::int64_t kMost = 1'000'000;
  CLI::App* verb = app.add_subcommand(
      "tokenize", "trains a sentencepiece model on a text, for `data.train.tokenizer`");
  verb->add_option("text", options.text, "the text, UTF-8")->required();
  verb->add_option("--vocabulary", options.vocabulary, "how many pieces; default 1024")
      ->check(CLI::Range(std::int64_t{1}, kMost));
  verb->add_option("-o,--output", options.output, "the model; default tokens.model");
  verb->footer("Example: hydro tokenize input.txt --vocabulary 1024 -o tokens.model");
  verb->callback(
      [&options, &chosen] { chosen = [&options] { return tokenize_verb(options); }; });
}

void add_doctor(CLI::App& app, DoctorOptions& options, Chosen& chosen) {
  CLI::App* verb = app.add_subcommand("doctor", "torch, devices, limits, and what is missing");
  verb->add_option("--format", options.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  verb->footer("Example: hydro doctor --format json");
  verb->callback([&options, &chosen] { chosen = [&options] { return doctor_verb(options); }; });
}

void add_explain(CLI::App& app, ExplainOptions& options, Chosen& chosen) {
  CLI::App* explain = app.add_subcommand(
      "explain", "what an error code means, or what became of a trial and why");
  explain->add_option("code", options.code, "an error code, `list`, or a run's folder")
      ->required();
  explain->add_option("trial", options.trial, "of that run; trials count from 0")
      ->check(trial_number());
  explain->footer("Example: hydro explain H0103, or hydro explain runs/latest 7");
  explain->callback(
      [&options, &chosen] { chosen = [&options] { return explain_verb(options); }; });
}

int report(const Error& error) {
  std::fputs(render(error).c_str(), stderr);
  const CatalogueRow* row = find_catalogue_row(error.id);
  return static_cast<int>(row != nullptr ? row->exit : ExitCode::kUsage);
}

/// Names a first word that is no verb: of a later version, or mistyped.
Error usage_error(int argc, char** argv, const std::string& problem) {
  std::vector<std::string> verbs;
  std::ranges::transform(kVerbs, std::back_inserter(verbs), [](const Verb& verb) {
    return std::string(verb.name);
  });
  const std::vector<std::string> later = {
      "resume", "report", "serve", "worker", "simulate", "coordinate"};
  const std::string word = argc > 1 ? argv[1] : "";
  if (word.empty() || word.starts_with('-') || std::ranges::find(verbs, word) != verbs.end()) {
    return make_error("H0901", problem);
  }
  if (std::ranges::find(later, word) != later.end()) {
    return make_error("H0130", "`hydro " + word + "` is not in this version")
        .fix("`hydro --help` lists the verbs of this version");
  }
  Error error = make_error("H0901", "there is no verb `" + printable(word) + "`");
  const std::string near = nearest(word, verbs);
  return near.empty() ? error : std::move(error).fix("did you mean `hydro " + near + "`?");
}

int run(int argc, char** argv) {
  CLI::App app(
      "Hydro: tunes a PyTorch model on narrow surrogates and delivers the trained full-size "
      "model.",
      "hydro");
  app.set_version_flag("--version", HYDRO_VERSION);
  app.require_subcommand(1);
  Options options;
  Chosen chosen;
  add_export(app, options.exporting, chosen);
  add_check(app, options.check, chosen);
  add_tune(app, options.tune, chosen);
  add_show(app, options.show, chosen);
  add_replay(app, options.replay, chosen);
  add_tokenize(app, options.tokenize, chosen);
  add_doctor(app, options.doctor, chosen);
  add_explain(app, options.explain, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    const bool asked = problem.get_exit_code() ==
                       static_cast<int>(CLI::ExitCodes::Success);  // --help, --version
    return asked ? app.exit(problem) : report(usage_error(argc, argv, problem.what()));
  }
  const VerbResult result = chosen();
  return result.has_value() ? static_cast<int>(*result) : report(result.error());
}

/// The system's reason why standard output is not whole; 0: it is.
int reason_of_lost_output() {
  errno = 0;
  if (std::fflush(stdout) != 0) {
    return errno;
  }
  return std::ferror(stdout) != 0 ? EIO : 0;
}

/// A reader that went away, as `head` does, wants no word about it.
int report_lost_output(int reason) {
  const Error error = make_error("H0603", "standard output cannot be written")
                          .because(std::generic_category().message(reason));
  return reason == EPIPE ? static_cast<int>(ExitCode::kStorage) : report(error);
}

}  // namespace
}  // namespace hydro::cli

int main(int argc, char** argv) {
  const hydro::cli::Verb verb = hydro::cli::verb_of(argc, argv);
  if (verb.computes) {
    hydro::cli::limit_spinning(argv);
  }
  hydro::train::prepare_process();
  try {
    const int code = hydro::cli::run(argc, argv);
    const int lost = verb.prints ? hydro::cli::reason_of_lost_output() : 0;
    return lost == 0 || code != 0 ? code : hydro::cli::report_lost_output(lost);
  } catch (const std::exception& problem) {
    const auto* refused = dynamic_cast<const std::system_error*>(&problem);
    if (refused != nullptr && std::ferror(stdout) != 0) {  // of fmt::print
      return hydro::cli::report_lost_output(refused->code().value());
    }
    return hydro::cli::report(hydro::make_error("H0999", problem.what()));
  }
}
