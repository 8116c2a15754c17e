// hydro/job/job.h — a job file, read and checked: every value has its type, every path is
// absolute, every distribution has been tried at its ends. What may vary between trials is the
// space; resolve() turns one configuration into one trial's settings. Thread-safety: a const
// Job may be shared.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/node.h"
#include "hydro/search/scheduler.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"
#include "hydro/search/stop_rules.h"
#include "hydro/worker/settings.h"

namespace hydro::job {

// ---- model ----

/// One data input of the model: "float32[*, 3, 28, 28]".
struct InputSpec {
  static constexpr std::int64_t kBatch = -1;  // stands for `*`
  std::string name;                           // empty: the only one
  std::string dtype;                          // "float32", "int64"
  std::vector<std::int64_t> shape;            // exactly one kBatch

  /// As `hydro export --input` takes it: "float32[*,3,28,28]", "ids=int64[*,128]".
  [[nodiscard]] std::string text() const;
};

enum class Initialization : std::uint8_t { kRecorded, kStandard };

/// Exactly one of `export_target` and `file` is given. The callable's kwargs are a trial's:
/// ResolvedTrial.
struct ModelSection {
  std::string export_target;      // "torchvision.models:resnet18", "/abs/my_model.py:build"
  std::filesystem::path file;     // an archive made by `hydro export`
  std::string args = "[]";        // JSON
  std::vector<InputSpec> inputs;  // empty only with `file`
  std::string output;             // empty: the only one
  std::string forward = "{}";     // JSON: forward arguments that are no tensors
  std::map<std::string, std::string>
      roles;  // parameter name or pattern -> "input", "hidden", ...
  Initialization initialization = Initialization::kRecorded;
  std::filesystem::path python;  // empty: the default interpreter
};

// ---- data ---- (plain mirrors of hydro/data/dataset.h, which this room may not include)

struct IdxFiles {
  std::filesystem::path images;
  std::filesystem::path labels;
};

struct ArrayFiles {
  std::map<std::string, std::filesystem::path> inputs;  // "" for the only one
  std::filesystem::path target;                         // empty with `task: model_loss`
};

struct ImageFolderFiles {
  std::filesystem::path path;
};

enum class CifarLabels : std::uint8_t { kFine, kCoarse };

struct CifarFiles {
  std::vector<std::filesystem::path> files;
  std::optional<CifarLabels> labels;  // nothing: the files say whether they have both
};

/// A sample is a block of tokens.
struct TextFile {
  std::filesystem::path path;
  std::filesystem::path tokenizer;  // a sentencepiece model; empty: bytes are tokens
  std::int64_t block = 0;
};

struct Split {
  std::variant<IdxFiles, ArrayFiles, ImageFolderFiles, CifarFiles, TextFile> files;
  std::optional<std::int64_t> limit;

  [[nodiscard]] bool is_text() const { return std::holds_alternative<TextFile>(files); }
};

struct Rgb {};

struct Normalize {
  std::vector<float> mean;  // one value, or one a channel
  std::vector<float> std;
};

struct RandomCrop {
  std::int64_t padding = 0;
  std::int64_t size = 0;  // 0: keep the image's
};

struct RandomFlip {
  double p = 0.5;
};

struct Resize {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

using Transform = std::variant<Rgb, Normalize, RandomCrop, RandomFlip, Resize>;

struct DataSection {
  Split train;
  std::optional<Split> val;  // exactly one of val and val_share
  std::optional<double> val_share;
  std::optional<Split> test;
  std::vector<Transform> transform;
  std::uint64_t seed = 1;
};

// ---- train ---- (what every trial shares; the rest is in ResolvedTrial)

struct TrainSection {
  worker::Task task = worker::Task::kClassification;
  std::optional<std::int64_t> epochs;  // exactly one of epochs and steps
  std::optional<std::int64_t> steps;
  worker::Span evaluate_every;
  bool drop_last = true;
  double mask = 0;                         // share of tokens that are chosen; 0 without masks
  std::optional<std::int64_t> mask_token;  // nothing: 256 of bytes, else the tokenizer's
};

// ---- tune ----

enum class Mode : std::uint8_t { kMin, kMax };
enum class SearchKind : std::uint8_t { kRandom, kGrid, kSobol, kProcess };
enum class Parametrization : std::uint8_t { kMup, kPaper, kStandard };
/// Whether a target that ends worse than its own surrogate is followed by one more.
enum class TargetRetry : std::uint8_t { kWorse, kOff };
enum class CoordinateCheck : std::uint8_t { kWarn, kError, kOff };

/// `auto`, `off` (one trial a container) or N (containers of at most N trials).
struct Fusion {
  enum class Kind : std::uint8_t { kAuto, kOff, kLimit };
  Kind kind = Kind::kAuto;
  std::int64_t limit = 0;  // kLimit
};

/// A process is either `command`, or the adapter of Optuna with one of its samplers.
struct SearchSection {
  SearchKind kind = SearchKind::kRandom;
  std::vector<std::string> command = {};  // the program and its arguments; empty: Optuna
  std::string sampler = {};               // of Optuna
  std::string arguments = "{}";           // of the sampler, JSON
  std::chrono::milliseconds deadline = std::chrono::seconds(60);  // for one answer
};

/// As written; scheduler_settings() has the numbers that depend on the budget.
struct Scheduler {
  search::SchedulerKind kind = search::SchedulerKind::kFifo;
  search::SchedulerType type = search::SchedulerType::kStopping;
  std::int64_t grace_period = 1;
  std::int64_t reduction_factor = 3;
  std::optional<std::int64_t> max_t;     // nothing: all evaluations
  std::optional<std::int64_t> brackets;  // nothing: asha one, hyperband one a rung
  std::int64_t min_samples_required = 3;
};

struct TuneSection {
  std::string metric;
  Mode mode = Mode::kMax;
  std::int64_t num_samples = 10;
  SearchSection search;
  std::vector<search::Config> points;  // tried first
  std::optional<bool> dedup;           // nothing: where the space is finite
  Scheduler scheduler;
  search::StopRule stop;
  double scaling = 8;
  Parametrization parametrization = Parametrization::kMup;
  bool zero_query = false;  // queries of attention start at 0
  Fusion fusion;
  std::uint64_t seed = 1;
  bool deterministic = false;
  std::optional<std::int64_t> max_concurrent_trials;
  std::int64_t min_width = 2;
  CoordinateCheck coordinate_check = CoordinateCheck::kWarn;
  TargetRetry target_retry = TargetRetry::kWorse;
  std::optional<std::uint64_t> pause_memory;  // bytes; nothing: a quarter of the machine's
};

struct ResourcesSection {
  std::optional<std::int64_t> cores;  // nothing: all
};

// ---- the whole ----

/// What is used because the file does not say otherwise: "train.optimizer.lr", "0.001".
struct DefaultValue {
  std::string path;
  std::string value;  // YAML in one line
};

struct Job {
  std::string name;
  ModelSection model;
  DataSection data;
  TrainSection train;
  TuneSection tune;
  ResourcesSection resources;
  search::Space space;
  std::vector<Error> warnings;  // rendered as errors are, but nothing stops
  Document document;            // defaults filled, paths absolute, distributions as written
};

struct ParseOptions {
  std::filesystem::path folder = "/";  // relative paths of the job start here
  std::vector<std::string> overrides;  // "tune.num_samples=50", in order
};

/// Errors: H0101 to H0125, H0130, H0701 to H0708, each with its place, line and caret
[[nodiscard]] Result<Job> parse_job(std::string_view text,
                                    const std::string& file_name,
                                    const ParseOptions& options = {});
/// Reads the file; relative paths start at its folder. Errors: H0100 it cannot be read, and
/// parse_job's.
[[nodiscard]] Result<Job> load_job(const std::filesystem::path& path,
                                   std::span<const std::string> overrides = {});

// Each gives `error` the place in the job file that it is about, with the line as excerpt; what
// the file does not say (a default) leaves the error as it is.

/// The value at a dotted path: "model.python".
[[nodiscard]] Error point_at(const Job& job, std::string_view path, Error error);
/// Where `section` ("data.train") names `file`.
[[nodiscard]] Error point_at_file(const Job& job,
                                  std::string_view section,
                                  const std::filesystem::path& file,
                                  Error error);
/// The callable whose module or file the error's text names: a `call` among the model's
/// arguments, else `model.export`.
[[nodiscard]] Error point_at_callable(const Job& job, Error error);

/// One trial's part of the job. Pure.
struct ResolvedTrial {
  worker::TrialSettings settings;
  std::int64_t batch_size = 0;
  std::string kwargs = "{}";  // JSON for the model's callable; equal texts mean one export
};

/// Errors: H0124 `config` lacks a parameter of the space, or has a value that it cannot take
[[nodiscard]] Result<ResolvedTrial> resolve(const Job& job, const search::Config& config);

/// Every parameter's median, `choice` its first.
[[nodiscard]] search::Config median_config(const Job& job);
/// The kwargs of every model that the space can ask for, the median configuration's first.
[[nodiscard]] std::vector<std::string> model_variants(const Job& job);
[[nodiscard]] std::int64_t largest_batch_size(const Job& job);
/// In the order of the sections; an option of a choice has its number in the path.
[[nodiscard]] std::vector<DefaultValue> defaults_used(const Job& job);
/// The search of the job, with the points that go first; a checked job has one. For a process,
/// which this room cannot start, a random search of as many configurations stands in.
[[nodiscard]] std::unique_ptr<search::Searcher> make_searcher(const Job& job);
/// Whether no configuration is tried twice: what `dedup` says, or whether the space is finite.
[[nodiscard]] bool tries_each_once(const Job& job);
/// The scheduler for trials of at most that many evaluations. Errors: H0125 its times do not
/// fit, with the place in the job file
[[nodiscard]] Result<search::SchedulerSettings> scheduler_settings(const Job& job,
                                                                   std::int64_t evaluations);
/// How many evaluations a trial has; the most of all batch sizes that the space can ask for.
[[nodiscard]] std::int64_t most_evaluations(const Job& job, std::int64_t samples);
/// After how many steps a trial reports first; the fewest of all batch sizes.
[[nodiscard]] std::int64_t first_report(const Job& job, std::int64_t samples);
/// Warning H0143 if the scheduler can end no trial early.
[[nodiscard]] std::optional<Error> idle_scheduler(const Job& job, std::int64_t evaluations);
/// How much training a trial of that batch size gets on `samples` training samples.
[[nodiscard]] worker::Budget budget(const TrainSection& train,
                                    std::int64_t samples,
                                    std::int64_t batch_size);

/// runs/NAME/job.yaml: what was run, defaults filled, absolute paths. Parses to an equal job.
[[nodiscard]] std::string resolved_yaml(const Job& job);
/// best/config.yaml: the `model:` and `train:` sections with nothing left to choose. Beside
/// `data:` it is a job.
[[nodiscard]] std::string best_config_yaml(const Job& job, const search::Config& config);

}  // namespace hydro::job
