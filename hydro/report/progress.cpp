#include "hydro/report/progress.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "hydro/base/text.h"
#include "hydro/report/results.h"
#include "hydro/search/preview.h"
#include "hydro/search/scheduler.h"
#include "hydro/tune/compact.h"
#include "hydro/tune/event_json.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"

namespace hydro::report {
namespace {

constexpr int kDefaultWidth = 80;
constexpr double kNanosecond = 1e-9;
constexpr double kThousand = 1000;

int terminal_width(std::FILE* out) {
  winsize size{};
  return ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                           : kDefaultWidth;
}

std::int64_t number(worker::TrialId id) {
  return static_cast<std::int64_t>(id);
}

double samples_of(const tune::Reports& reports, const tune::Trial& trial) {
  return reports.empty() ? 0
                         : static_cast<double>(reports.last_step()) *
                               static_cast<double>(trial.common->batch_size);
}

double planned_samples(const tune::Trial& trial) {
  return static_cast<double>(trial.common->budget.steps) *
         static_cast<double>(trial.common->batch_size);
}

std::string rate_text(double per_second) {
  return per_second >= kThousand ? fmt::format("{:.1f}k samples/s", per_second / kThousand)
                                 : fmt::format("{:.0f} samples/s", per_second);
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::max(seconds, 0.0));
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

/// Training done of training planned, since when.
struct Work {
  double done = 0;
  double planned = 0;
  std::int64_t begin_ns = 0;
};

/// What a trial will train at least: nothing more once it ended or waits at a rung, else up to
/// where it is looked at next.
double certain_samples(const tune::Trial& trial) {
  const bool goes_on = trial.status == tune::TrialStatus::kWaiting ||
                       trial.status == tune::TrialStatus::kRunning;
  return goes_on ? static_cast<double>(trial.milestone * trial.common->batch_size)
                 : samples_of(trial.reports, trial);
}

/// The share of all training that a scheduler with rungs is expected to ask for.
double expected_share(const tune::State& state) {
  if (state.trials.empty()) {
    return 1;
  }
  const auto trials = static_cast<std::int64_t>(state.trials.size());
  const search::Preview preview = search::preview(state.study().scheduler, trials);
  return preview.rungs.empty() ? 1 : preview.evaluations / preview.all_to_the_end;
}

Work work_of_search(const tune::State& state, std::int64_t now_ns) {
  Work work = {.begin_ns = now_ns};
  double certain = 0;
  double whole = 0;
  for (const tune::Trial& trial : state.trials) {
    work.done += samples_of(trial.reports, trial);
    certain += certain_samples(trial);
    const bool is_over = trial.status == tune::TrialStatus::kFailed ||
                         trial.status == tune::TrialStatus::kStopped;
    whole += is_over && state.study().scheduler.kind == search::SchedulerKind::kFifo
                 ? certain_samples(trial)
                 : planned_samples(trial);
    if (trial.status != tune::TrialStatus::kWaiting) {
      work.begin_ns = std::min(work.begin_ns, trial.begin_ns);
    }
  }
  work.planned = std::max(certain, whole * expected_share(state));
  return work;
}

/// Since the command that trains it; no work when none does.
Work work_of_target(const tune::State& state) {
  const tune::Target& target = state.targets.back();
  const tune::Trial& trial = state.trial(target.trial);
  for (const auto& [id, pending] : state.pending) {
    if (pending.order.verb == tune::Verb::kRun && pending.order.container == target.container) {
      return {.done = samples_of(target.reports, trial),
              .planned = planned_samples(trial),
              .begin_ns = pending.since_ns};
    }
  }
  return {};
}

/// Rate so far and what is left at that rate; of the search, or of the target once it trains.
std::string pace_text(const tune::State& state, std::int64_t now_ns) {
  const Work work =
      state.targets.empty() ? work_of_search(state, now_ns) : work_of_target(state);
  const double seconds = static_cast<double>(now_ns - work.begin_ns) * kNanosecond;
  if (work.done <= 0 || seconds <= 0) {
    return {};
  }
  const double rate = work.done / seconds;
  return " · " + rate_text(rate) + " · ETA " + clock_text((work.planned - work.done) / rate);
}

std::string best_text(const tune::State& state) {
  const std::optional<worker::TrialId> best = state.best();
  if (!best.has_value()) {
    return {};
  }
  const std::optional<double> value = state.trial(*best).reports.last(state.study().metric);
  return fmt::format(
      " · best {} {:.4g} (trial {})", state.study().metric, value.value_or(0), number(*best));
}

/// " · 2 running, 9 waiting, 6 stopped (5 at rung 1, 1 at rung 3)" where trials may stop early.
std::string states_text(const tune::State& state) {
  if (!state.settings.has_value() ||
      (state.study().scheduler.kind == search::SchedulerKind::kFifo &&
       state.counts.stopped == 0)) {
    return {};
  }
  const tune::Counts& counts = state.counts;
  const std::int64_t waiting =
      counts.total - counts.running - counts.paused - counts.ended() - counts.interrupted;
  std::string text = fmt::format(" · {} running, {} waiting", counts.running, waiting);
  text += counts.paused > 0 ? fmt::format(", {} paused", counts.paused) : "";
  return text +
         (counts.stopped > 0
              ? fmt::format(", {} stopped{}", counts.stopped, rungs_text(state.stopped_at))
              : "");
}

/// Cuts after `width` characters, counting UTF-8 sequences as one.
std::string cut(const std::string& text, int width) {
  int seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U;
    if (starts && ++seen > width) {
      return text.substr(0, i);
    }
  }
  return text;
}

std::string metric_list(const std::map<std::string, double>& metrics) {
  std::vector<std::string> parts;
  parts.reserve(metrics.size());
  for (const auto& [name, value] : metrics) {
    parts.push_back(fmt::format("{} {:.4g}", name, value));
  }
  return join(parts, ", ");
}

/// "1 slot", "2 slots"
std::string counted(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Lines of the plain form, by event type; other events say nothing.
struct PlainLine {
  const tune::State& state;
  const std::vector<Column>& columns;
  const std::string& reason;  // why the study decided so

  std::string operator()(const tune::StudyOpened& e) const {
    return fmt::format("study {}: {} trials, metric {}\n",
                       printable(e.settings.name),
                       e.settings.trials,
                       e.settings.metric);
  }

  std::string operator()(const tune::ContainersPlanned& e) const {
    return fmt::format("planned {} on {}\n",
                       counted(e.containers.size(), "container"),
                       counted(state.slots.size(), "slot"));
  }

  std::string operator()(const tune::TrialFinished& e) const {
    const tune::Trial& trial = state.trial(e.trial);
    return fmt::format("trial {} finished: {} ({}) [{}/{}]\n",
                       number(e.trial),
                       trial.reports.empty() ? "" : metric_list(trial.reports.last_metrics()),
                       config_text(trial.config.expanded(), columns),
                       state.counts.ended(),
                       state.study().trials);
  }

  std::string operator()(const tune::TrialStopped& e) const {
    return fmt::format("trial {} stopped: {} {}\n", number(e.trial), e.cause, ended());
  }

  std::string operator()(const tune::TrialPaused& e) const {
    return fmt::format("trial {} paused: {}\n", number(e.trial), e.cause);
  }

  std::string operator()(const tune::TrialPromoted& e) const {
    return fmt::format("trial {} promoted: {}\n", number(e.trial), e.cause);
  }

  std::string operator()(const tune::TrialFailed& e) const { return failed(e.trial, e.cause); }

  std::string operator()(const tune::TrialDiverged& e) const {
    return is_target(e.command) ? "" : failed(e.trial, e.cause);  // a target's verdict follows
  }

  std::string operator()(const tune::CommandFailed& e) const {
    return fmt::format("a container failed: {} {}\n", e.error.what, ended());
  }

  std::string operator()(const tune::TargetStarted& e) const {
    return fmt::format("{} trial {}{} ({}){}\n",
                       state.delivers_own_weights() ? "delivering" : "target:",
                       number(e.trial),
                       state.delivers_own_weights() ? "" : " at full width",
                       config_text(state.trial(e.trial).config.expanded(), columns),
                       state.targets.size() > 1 ? ": " + reason : "");
  }

  std::string operator()(const tune::Reported& e) const {
    if (!is_target(e.command)) {
      return {};  // its end says it
    }
    return fmt::format(
        "target: epoch {:.4g} {}\n", e.report.epoch, metric_list(e.report.metrics));
  }

  std::string operator()(const tune::TargetFailed& e) const {
    return fmt::format("target of trial {} failed: {}\n", number(e.trial), e.cause);
  }

  std::string operator()(const tune::SearcherFailed& e) const {
    return fmt::format(
        "{} (failure {} in a row){}\n",
        printable(e.cause),
        e.attempt,
        state.lost_searcher() ? "; no more trials are suggested" : ": " + reason);
  }

  std::string operator()(const tune::StopRequested&) const {
    return "stopping at the next step\n";
  }

  template <class Other>
  std::string operator()(const Other&) const {
    return {};
  }

 private:
  [[nodiscard]] bool is_target(worker::CommandId command) const {
    const tune::OrderNote& order = state.pending.at(command).order;
    return state.container(order.container).kind == worker::TrialKind::kTarget;
  }

  [[nodiscard]] std::string ended() const {
    return fmt::format("[{}/{}]", state.counts.ended(), state.study().trials);
  }

  [[nodiscard]] std::string failed(worker::TrialId trial, const std::string& cause) const {
    return fmt::format("trial {} failed: {} {}\n", number(trial), cause, ended());
  }
};

}  // namespace

std::string bar_text(const tune::State& state, std::int64_t now_ns, int width) {
  const std::int64_t total = state.settings.has_value() ? state.study().trials : 0;
  std::string text = fmt::format("{}/{} trials", state.counts.ended(), total);
  text += states_text(state) + best_text(state) + pace_text(state, now_ns);
  if (!state.targets.empty()) {
    text = "target · " + text;
  }
  return cut(text, width);
}

std::string plain_text(const tune::State& state,
                       const tune::Event& event,
                       const std::vector<Column>& columns) {
  return std::visit(PlainLine{.state = state, .columns = columns, .reason = event.reason},
                    event.body);
}

std::string json_text(const tune::Event& event) {
  return tune::to_json(event).dump() + "\n";
}

Progress::Progress(ProgressForm form, std::vector<Column> columns, std::FILE* out)
    : form_(form), columns_(std::move(columns)), out_(out) {}

void Progress::event(const tune::State& state, const tune::Event& event) {
  std::string text;
  if (form_ == ProgressForm::kBar) {
    text = "\r\x1b[K" + bar_text(state, event.mono_ns, terminal_width(out_) - 1);
    drawn_ = true;
  } else if (form_ == ProgressForm::kPlain) {
    text = plain_text(state, event, columns_);
  } else if (form_ == ProgressForm::kJson) {
    text = json_text(event);
  }
  std::fputs(text.c_str(), out_);
  std::fflush(out_);
}

void Progress::finish() {
  if (std::exchange(drawn_, false)) {
    std::fputs("\n", out_);
    std::fflush(out_);
  }
}

ProgressForm default_form(std::FILE* out) {
  return ::isatty(::fileno(out)) == 1 ? ProgressForm::kBar : ProgressForm::kPlain;
}

}  // namespace hydro::report
