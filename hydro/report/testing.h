// hydro/report/testing.h — a small study for tests: trial 0 finishes with 0.5, trial 1
// diverges, trial 2 finishes with 0.75, then as the test goes on. Every event comes a second
// later.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hydro/report/results.h"
#include "hydro/tune/testing.h"

namespace hydro::report::testing {

inline const std::vector<Column> kColumns = {
    {.path = "train.optimizer.lr", .name = "lr"},
    {.path = "train.batch_size", .name = "batch_size"}};

[[nodiscard]] inline worker::Report make_report(std::int64_t trial,
                                                double value,
                                                double train_loss) {
  return {.trial = worker::TrialId{trial},
          .step = 100,
          .epoch = 1,
          .metrics = {{"train_loss", train_loss}, {"val_accuracy", value}}};
}

/// Carries out what the study decides until it waits for an answer.
inline void settle(tune::Journal& journal) {
  for (auto next = tune::decide(journal.state()); !next.empty();
       next = tune::decide(journal.state())) {
    if (const auto* order = std::get_if<tune::Suggest>(&next.front())) {
      for (std::int64_t k = order->first; k < order->first + order->count; ++k) {
        journal.append(tune::make_suggestion(k));
      }
    } else {
      journal.carry_out(next.front());
    }
  }
}

/// The oldest open command is done.
inline void finish_oldest(tune::Journal& journal) {
  const auto& [id, pending] = *journal.state().pending.begin();
  const std::int64_t step = pending.order.to;
  journal.append(tune::CommandDone{.command = id, .step = step});
  settle(journal);
}

[[nodiscard]] inline worker::CommandId oldest(const tune::Journal& journal) {
  return journal.state().pending.begin()->first;
}

[[nodiscard]] inline tune::Journal open_study(std::int64_t trials, double scaling = 8) {
  tune::Journal journal;
  tune::StudySettings settings = tune::make_settings(trials, 1);
  settings.scaling = scaling;
  journal.append(tune::StudyOpened{.settings = settings, .process_start_ns = 0});
  journal.append(tune::Prepared{});
  settle(journal);
  return journal;
}

/// Launches the next trial, reports and ends its run; NaN diverges.
inline void train(tune::Journal& journal, std::int64_t trial, double value) {
  finish_oldest(journal);  // the launch
  if (std::isnan(value)) {
    journal.append(tune::TrialDiverged{.command = oldest(journal),
                                       .trial = worker::TrialId{trial},
                                       .step = 50,
                                       .cause = "the loss is not finite"});
  } else {
    journal.append(
        tune::Reported{.command = oldest(journal), .report = make_report(trial, value, 1.5)});
  }
  finish_oldest(journal);  // the run
}

/// The three trials above, the target about to be launched.
[[nodiscard]] inline tune::Journal searched_study() {
  tune::Journal journal = open_study(3);
  train(journal, 0, 0.5);
  finish_oldest(journal);  // dissolves
  train(journal, 1, tune::kNan);
  finish_oldest(journal);
  train(journal, 2, 0.75);
  return journal;
}

/// All of it, delivered.
[[nodiscard]] inline tune::Journal finished_study() {
  tune::Journal journal = searched_study();
  while (journal.state().targets.empty()) {
    finish_oldest(journal);
  }
  train(journal, 2, 0.875);
  while (!journal.state().closed) {
    finish_oldest(journal);
  }
  return journal;
}

/// asha over two evaluations: trial 0 reports 0.5 and trains on, trial 1 reports 0.25 and is
/// stopped, trial 2 waits; one core a trial.
[[nodiscard]] inline tune::Journal stopped_study() {
  tune::Journal journal;
  tune::StudySettings settings = tune::make_settings(3, 2);
  settings.scheduler = {.kind = search::SchedulerKind::kAsha, .max_t = 2};
  journal.append(tune::StudyOpened{.settings = settings, .process_start_ns = 0});
  journal.append(tune::Prepared{});
  for (std::int64_t k = 0; k < 3; ++k) {
    tune::TrialSuggested suggestion = tune::make_suggestion(k);
    suggestion.budget.evaluate_every = 50;
    journal.append(suggestion);
  }
  settle(journal);
  finish_oldest(journal);  // both launches
  finish_oldest(journal);
  for (const std::int64_t trial : {0, 1}) {
    worker::Report report = make_report(trial, trial == 0 ? 0.5 : 0.25, 1.5);
    report.step = 50;
    report.epoch = 0.5;
    journal.append(tune::Reported{.command = oldest(journal), .report = report});
    finish_oldest(journal);
  }
  return journal;
}

/// Trial 0 has finished, trial 1 is in training when a stop comes.
[[nodiscard]] inline tune::Journal interrupted_study() {
  tune::Journal journal = open_study(3);
  train(journal, 0, 0.5);
  finish_oldest(journal);
  finish_oldest(journal);
  journal.append(tune::StopRequested{});
  settle(journal);
  while (!journal.state().closed) {
    journal.append(tune::CommandStopped{.command = oldest(journal), .step = 10});
    settle(journal);
  }
  return journal;
}

}  // namespace hydro::report::testing
