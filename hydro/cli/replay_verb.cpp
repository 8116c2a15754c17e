#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/cli/torch_backend.h"
#include "hydro/cli/verbs.h"
#include "hydro/run/replay.h"
#include "hydro/run/signals.h"
#include "hydro/worker/messages.h"

namespace hydro::cli {
namespace {

std::string cell(const std::optional<double>& value) {
  return value ? shortest(*value) : "-";
}

std::string verdict_of(const run::ReplayedNumber& number, double tolerance) {
  if (!number.agrees) {
    return "differs";
  }
  return tolerance == 0 ? "same" : "agrees";
}

void print_numbers(const run::Replay& replay) {
  fmt::print("{:>8}  {:<18} {:>24} {:>24}\n", "step", "metric", "then", "now");
  for (const run::ReplayedNumber& number : replay.numbers) {
    fmt::print("{:>8}  {:<18} {:>24} {:>24}  {}\n",
               number.step,
               printable(number.metric),
               cell(number.then),
               cell(number.now),
               verdict_of(number, replay.tolerance));
  }
}

/// "bit for bit", or how near a stacked trial must come.
std::string measure_of(const run::Replay& replay) {
  return replay.tolerance == 0 ? "bit for bit"
                               : "within " + plain_number(replay.tolerance * 100) +
                                     " %, since it shared a container";
}

std::string difference_of(const run::Replay& replay) {
  if (replay.cause_then != replay.cause_now) {
    const auto words = [](const std::string& cause) {
      return cause.empty() ? std::string("no failure") : "`" + printable(cause) + "`";
    };
    return "then " + words(replay.cause_then) + ", now " + words(replay.cause_now);
  }
  return fmt::format("{} of {} numbers differ", replay.disagreeing(), replay.numbers.size());
}

Error difference(const run::Replay& replay, const std::string& name) {
  Error error = make_error("H0634", name + " gives other numbers than before")
                    .because(difference_of(replay) + " (compared " + measure_of(replay) + ")");
  return replay.tolerance == 0 ? error
                               : std::move(error).fix(
                                     "large learning rates multiply rounding: see whether the "
                                     "first reports agree; "
                                     "with `fusion: off` trials repeat bit for bit");
}

}  // namespace

VerbResult replay_verb(const ReplayOptions& options) {
  const run::SignalStop stop;
  HYDRO_TRY(const run::Replay replay,
            run::replay_trial(
                options.folder, worker::TrialId{options.trial}, TorchBackend(), stop.token()));
  print_numbers(replay);
  const std::string name =
      fmt::format("trial {} of {}", options.trial, printable(replay.study));
  if (!replay.agrees()) {
    return difference(replay, name);
  }
  fmt::print("{}: all {} numbers up to step {} agree {}\n",
             name,
             replay.numbers.size(),
             replay.step,
             measure_of(replay));
  return ExitCode::kDone;
}

}  // namespace hydro::cli
