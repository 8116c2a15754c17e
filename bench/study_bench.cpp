// What a study costs besides training: trials through searcher, scheduler, apply and decide, in
// a world that answers at once. Prints rates; a row's cost per event must not grow with trials.
//
//   study_bench SCENARIO TRIALS     fifo, rising, asha, promotion or median
//
// One measurement a process: memory that an earlier one gave back would not be seen.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

#include "hydro/search/scheduler.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"
#include "hydro/tune/decide.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"

namespace hydro {
namespace {

using worker::TrialId;

constexpr std::int64_t kEvaluations = 10;

std::int64_t number(TrialId id) {
  return static_cast<std::int64_t>(id);
}

search::Space make_space() {
  search::Space space;
  const std::vector<std::pair<std::string, search::Distribution>> parameters = {
      {"lr", search::QLogUniform{.low = 1e-4, .high = 1, .q = 1e-4}},
      {"momentum", search::QUniform{.low = 0.5, .high = 0.999, .q = 0.001}},
      {"batch_size", search::Choice{.options = {std::int64_t{64}, std::int64_t{128}}}},
      {"gamma", search::QUniform{.low = 0.01, .high = 0.9, .q = 0.01}}};
  for (const auto& [name, distribution] : parameters) {
    space.parameters.push_back(
        {.path = "train." + name, .name = name, .distribution = distribution, .condition = {}});
  }
  return space;
}

struct Scenario {
  std::string name;
  search::SchedulerSettings scheduler;
  std::function<double(std::int64_t trial, std::int64_t evaluation)> value;
};

/// A scattered, repeatable value in [0, 1).
double scattered(std::int64_t trial, std::int64_t evaluation) {
  const auto mixed = static_cast<std::uint64_t>(trial * 2'654'435'761 + evaluation * 40'503);
  return static_cast<double>(mixed % 1'000'003) / 1'000'003;
}

class Study {
 public:
  Study(const Scenario& scenario, std::int64_t trials)
      : scenario_(scenario),
        searcher_(search::make_random_searcher(make_space(), 1, trials).value()) {
    tune::StudySettings settings;
    settings.name = "bench";
    settings.metric = "val_accuracy";
    settings.trials = trials;
    settings.slots = 8;
    settings.scaling = 8;
    settings.weights = "best/model.safetensors";
    settings.scheduler = scenario.scheduler;
    append(tune::StudyOpened{.settings = settings});
    append(tune::Prepared{});
  }

  void run() {
    while (!state_.closed) {
      const std::vector<tune::Decision> decisions = tune::decide(state_);
      if (decisions.empty()) {
        answer_oldest();
      } else {
        carry_out(decisions.front());
      }
    }
  }

  [[nodiscard]] const tune::State& state() const { return state_; }

  [[nodiscard]] std::int64_t reports() const { return reports_; }

 private:
  void append(tune::EventBody body) {
    tune::apply(state_,
                {.seq = state_.last_seq + 1,
                 .wall_ns = state_.last_seq,
                 .mono_ns = state_.last_seq,
                 .reason = {},
                 .body = std::move(body)});
  }

  void carry_out(const tune::Decision& decision) {
    if (const auto* suggest = std::get_if<tune::Suggest>(&decision)) {
      for (std::int64_t k = suggest->first; k < suggest->first + suggest->count; ++k) {
        this->suggest(k);
      }
    } else if (const auto* record = std::get_if<tune::Record>(&decision)) {
      append(record->body);
    } else {
      const tune::CommandIssued issued = tune::issued(state_, std::get<tune::Issue>(decision));
      append(issued);
      commands_.push_back(issued.id);
    }
  }

  void suggest(std::int64_t k) {
    tune::TrialSuggested suggestion;
    suggestion.id = TrialId{k};
    suggestion.config = searcher_->ask(k).value().value();
    suggestion.model = "surrogate";
    suggestion.target_model = "target";
    suggestion.batch_size = 64;
    suggestion.budget = {
        .steps = 10 * kEvaluations, .steps_per_epoch = 10, .evaluate_every = 10};
    append(suggestion);
  }

  void answer_oldest() {
    const worker::CommandId id = commands_.front();
    commands_.pop_front();
    const tune::OrderNote order = state_.pending.at(id).order;
    if (order.verb == tune::Verb::kRun) {
      train(id, order);
    }
    append(tune::CommandDone{.command = id, .step = order.to});
  }

  void train(worker::CommandId id, const tune::OrderNote& order) {
    const tune::Container& container = state_.container(order.container);
    const std::vector<TrialId> live = container.live;
    for (std::int64_t step = container.step + 10; step <= order.to; step += 10) {
      for (const TrialId trial : live) {
        ++reports_;
        append(tune::Reported{
            .command = id,
            .report = {.trial = trial,
                       .step = step,
                       .epoch = static_cast<double>(step) / 10,
                       .metrics = {{"train_loss", 1.0 / static_cast<double>(step)},
                                   {"val_accuracy", scenario_.value(number(trial), step / 10)},
                                   {"val_loss", 2.0 / static_cast<double>(step)}}}});
      }
    }
  }

  const Scenario& scenario_;
  std::unique_ptr<search::Searcher> searcher_;
  tune::State state_;
  std::deque<worker::CommandId> commands_;
  std::int64_t reports_ = 0;
};

/// Of this process, now.
std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  statm >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

void measure(const Scenario& scenario, std::int64_t trials) {
  const std::int64_t before = resident_bytes();
  const auto begin = std::chrono::steady_clock::now();
  Study study(scenario, trials);
  study.run();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const auto count = static_cast<double>(trials);
  fmt::print(
      "{:<16} {:>6} trials {:>7} reports {:>8.0f} trials/s {:>6.2f} us/event {:>6.0f} "
      "bytes/trial\n",
      scenario.name,
      trials,
      study.reports(),
      count / seconds.count(),
      seconds.count() * 1e6 / static_cast<double>(study.state().last_seq),
      static_cast<double>(resident_bytes() - before) / count);
  std::fflush(stdout);
}

std::vector<Scenario> scenarios() {
  const search::SchedulerSettings asha = {.kind = search::SchedulerKind::kAsha,
                                          .max_t = kEvaluations};
  search::SchedulerSettings promotion = asha;
  promotion.type = search::SchedulerType::kPromotion;
  search::SchedulerSettings median = asha;
  median.kind = search::SchedulerKind::kMedian;
  // Each trial is better than all before it: none stops, each reports ten times.
  const auto rising = [](std::int64_t trial, std::int64_t evaluation) {
    return static_cast<double>(trial) + static_cast<double>(evaluation) / 100;
  };
  return {{"fifo", {.max_t = kEvaluations}, scattered},
          {"rising", asha, rising},
          {"asha", asha, scattered},
          {"promotion", promotion, scattered},
          {"median", median, scattered}};
}

}  // namespace
}  // namespace hydro

int main(int argc, char** argv) {
  const std::vector<hydro::Scenario> scenarios = hydro::scenarios();
  const auto chosen = argc == 3 ? std::ranges::find(scenarios, argv[1], &hydro::Scenario::name)
                                : scenarios.end();
  if (chosen == scenarios.end()) {
    fmt::print(stderr, "study_bench fifo|rising|asha|promotion|median TRIALS\n");
    return 2;
  }
  hydro::measure(*chosen, std::atoll(argv[2]));
  return 0;
}
