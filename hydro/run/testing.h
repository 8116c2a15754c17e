// hydro/run/testing.h — whole studies for tests: a backend that answers by script, a Python
// that only copies an archive, small data files, and a job that ties them together.
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/clock.h"
#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/base/safetensors.h"
#include "hydro/base/testing.h"
#include "hydro/data/testing.h"
#include "hydro/run/backend.h"
#include "hydro/run/study.h"
#include "hydro/store/waiting_states.h"
#include "hydro/tune/event_json.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/worker.h"

namespace hydro::run::testing {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kHang{5};  // bounds a broken program only

/// Sets a variable of this process, and sets it back.
class EnvironmentVariable {
 public:
  EnvironmentVariable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) {  // NOLINT(concurrency-mt-unsafe)
      before_ = before;
    }
    ::setenv(name_.c_str(), value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
  }

  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

  ~EnvironmentVariable() {
    if (before_.has_value()) {
      ::setenv(name_.c_str(), before_->c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    } else {
      ::unsetenv(name_.c_str());  // NOLINT(concurrency-mt-unsafe)
    }
  }

 private:
  std::string name_;
  std::optional<std::string> before_;
};

/// Every look at it is a second later.
class CountingClock : public Clock {
 public:
  [[nodiscard]] std::int64_t wall_ns() const override { return seconds_ * kSecond; }

  [[nodiscard]] std::int64_t mono_ns() const override { return ++seconds_ * kSecond; }

 private:
  static constexpr std::int64_t kSecond = 1'000'000'000;
  mutable std::atomic<std::int64_t> seconds_ = 0;
};

/// An executable shell script.
inline fs::path write_script(const fs::path& file, const std::string& body) {
  write_text_durably(file, "#!/bin/sh\n" + body).value();
  fs::permissions(file, fs::perms::owner_all);
  return file;
}

/// Returns once `stop` is requested.
inline void wait_for(const std::stop_token& stop) {
  std::promise<void> requested;
  const std::stop_callback callback(stop, [&requested] { requested.set_value(); });
  HYDRO_CHECK(requested.get_future().wait_for(kHang) == std::future_status::ready);
}

/// What the fake computes: a trial's metric by id and kind (NaN diverges), and what else
/// happens when a container trains. Called from the workers' threads.
struct Script {
  std::function<double(worker::TrialId, worker::TrialKind)> value = [](worker::TrialId trial,
                                                                       worker::TrialKind) {
    return 0.5 + 0.01 * static_cast<double>(trial);
  };
  std::function<void(const worker::Run&, const std::stop_token&)> before_run =
      [](const worker::Run&, const std::stop_token&) {};
};

/// Trains in no time: every run reports once, at its end.
class ScriptedWorker : public worker::Worker {
 public:
  explicit ScriptedWorker(Script script) : script_(std::move(script)) {}

  void carry_out(const worker::Command& command,
                 const std::stop_token& stop,
                 const worker::AnswerSink& sink) override {
    std::int64_t step = 0;
    if (const auto* launch = std::get_if<worker::Launch>(&command.order)) {
      containers_[launch->spec.id] = launch->spec;
    } else if (const auto* run = std::get_if<worker::Run>(&command.order)) {
      step = run->to;
      script_.before_run(*run, stop);
      if (stop.stop_requested()) {
        sink({.command = command.id, .body = worker::Stopped{.step = 0}});
        return;
      }
      train(command.id, *run, sink);
    } else if (const auto* exporting = std::get_if<worker::Export>(&command.order)) {
      write_weights(*exporting);
    }
    sink({.command = command.id, .body = worker::Done{.step = step}});
  }

 private:
  void train(worker::CommandId id, const worker::Run& run, const worker::AnswerSink& sink) {
    const worker::ContainerSpec& spec = containers_.at(run.container);
    for (const worker::TrialSpec& trial : spec.trials) {
      const double value = script_.value(trial.id, spec.kind);
      if (std::isnan(value)) {
        sink({.command = id,
              .body = worker::Diverged{
                  .trial = trial.id, .step = run.to, .reason = "the loss is not finite"}});
      } else {
        sink({.command = id, .body = report_of(spec, trial.id, run.to, value)});
      }
    }
  }

  static worker::Report report_of(const worker::ContainerSpec& spec,
                                  worker::TrialId trial,
                                  std::int64_t step,
                                  double value) {
    return {.trial = trial,
            .step = step,
            .epoch = worker::epoch_at(spec.budget, step),
            .metrics = {
                {"train_loss", 1 - value}, {"val_loss", 1 - value}, {"val_accuracy", value}}};
  }

  static void write_weights(const worker::Export& order) {
    const Bytes bytes = hydro::testing::bytes_of(std::vector<float>{1, 2});
    const SafeTensor tensor = {.dtype = "F32", .shape = {2}, .bytes = bytes};
    write_safetensors(order.path, {{"head.bias", tensor}}, {}).value();
  }

  Script script_;
  std::map<worker::ContainerId, worker::ContainerSpec> containers_;
};

/// A backend whose measurements are what the test says.
class FakeBackend : public Backend {
 public:
  explicit FakeBackend(Script script = {}) : script_(std::move(script)) {}

  [[nodiscard]] Result<void> check_shapes(
      const shrink::Surrogate& /*surrogate*/) const override {
    return shapes;
  }

  [[nodiscard]] Result<shrink::CoordinateMeasure> measure_coordinates(
      const shrink::Surrogate& surrogate,
      const data::Loader& /*data*/,
      const CoordinateRequest& request) const override {
    requests.push_back(request);
    shrink::CoordinateMeasure measure = {.layers = {}, .first_losses = {2.3, 2.3}};
    for (const shrink::ParameterPlan& plan : surrogate.parameters) {
      if (plan.shape.size() > 1) {
        measure.layers.push_back({.layer = plan.name, .update = 1, .activation = 1});
      }
    }
    distort(measure, surrogate);
    return measure;
  }

  [[nodiscard]] worker::WorkerFactory workers(
      const Material& /*material*/,
      worker::Task /*task*/,
      std::shared_ptr<store::WaitingStates> /*waiting*/) const override {
    return [this](worker::SlotId) { return std::make_unique<ScriptedWorker>(script_); };
  }

  Result<void> shapes;
  std::function<void(shrink::CoordinateMeasure&, const shrink::Surrogate&)> distort =
      [](shrink::CoordinateMeasure&, const shrink::Surrogate&) {};
  mutable std::vector<CoordinateRequest> requests;

 private:
  Script script_;
};

/// A folder with a job of the small convolution net of tests/data/cnn.pt2, its data, and a
/// "Python" that exports it. The test changes the texts, then calls write().
class JobFolder {
 public:
  JobFolder() {
    python = write_script(folder / "python",
                          "while [ $# -gt 0 ]; do\n"
                          "  if [ \"$1\" = -o ]; then cp " HYDRO_SOURCE_DIR
                          "/tests/data/cnn.pt2 \"$2\"; fi\n"
                          "  shift\n"
                          "done\n"
                          "echo building the net >&2\n");
    write_split("train", 12);
    write_split("val", 4);
  }

  /// 28x28 images counting bytes, labels 0, 1, 2, 0, ...
  void write_split(const std::string& name,
                   std::uint32_t count,
                   std::uint8_t last_label = 2) const {
    std::vector<std::uint8_t> pixels(std::size_t{count} * 28 * 28);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      pixels[i] = static_cast<std::uint8_t>(i % 251);
    }
    std::vector<std::uint8_t> labels(count);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      labels[i] = static_cast<std::uint8_t>(i % 3);
    }
    labels.back() = last_label;
    data::testing::write_bytes(folder / (name + "-images"),
                               data::testing::idx_bytes({count, 28, 28}, pixels));
    data::testing::write_bytes(folder / (name + "-labels"),
                               data::testing::idx_bytes({count}, labels));
  }

  [[nodiscard]] fs::path write() const {
    const fs::path file = folder / "job.yaml";
    write_text_durably(
        file,
        "name: small\n"
        "model:\n"
        "  export: fixture_models:Cnn\n"
        "  input: float32[*, 1, 28, 28]\n"
        "  python: " +
            python.string() +
            "\n"
            "data:\n"
            "  train: {format: idx, images: train-images, labels: train-labels}\n"
            "  val: {format: idx, images: val-images, labels: val-labels}\n"
            "train:\n"
            "  task: classification\n"
            "  epochs: 2\n"
            "  batch_size: " +
            batch_size +
            "\n"
            "  optimizer: {name: sgd, lr: {loguniform: [0.001, 0.1]}}\n"
            "tune:\n"
            "  num_samples: 3\n"
            "  scaling: " +
            scaling + "\n" + tune + "resources: {cores: 2}\n")
        .value();
    return file;
  }

  [[nodiscard]] fs::path out() const { return folder / "out"; }

  hydro::testing::TemporaryFolder folder;
  fs::path python;
  std::string batch_size = "4";
  std::string scaling = "4";
  std::string tune;  // more lines of the section
};

/// One call of tune_study() with all that it said.
struct Start {
  Result<StudyOutcome> outcome = make_error("H0650", "not started");
  std::vector<std::string> said = {};
  std::vector<std::string> logged = {};
  std::vector<std::string> events = {};  // types in order
};

/// Runs a study into `folder`.
[[nodiscard]] inline Start start_study(const fs::path& job,
                                       const fs::path& folder,
                                       const Backend& backend,
                                       const std::stop_token& stop = {}) {
  const EnvironmentVariable home("HYDRO_HOME", HYDRO_SOURCE_DIR);
  const CountingClock clock;
  Start start;
  const Listener listener = {
      .opened = [](const job::Job&, const fs::path&) {},
      .says = [&start](const std::string& line) { start.said.push_back(line); },
      .event =
          [&start](const tune::State&, const tune::Event& event) {
            start.events.emplace_back(tune::event_type(event.body));
          },
      .logs = [&start](const std::string& text) { start.logged.push_back(text); }};
  start.outcome = tune_study(
      {.job = job, .settings = {}, .folder = folder}, backend, listener, clock, stop);
  return start;
}

}  // namespace hydro::run::testing
