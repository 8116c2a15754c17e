// The worker: one command in, answers out. Thread counts, stop requests and failures are its
// business.
#include "hydro/worker/worker.h"

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ops/torch.h"
#include "hydro/store/waiting_states.h"
#include "hydro/train/container.h"
#include "hydro/train/guard.h"
#include "hydro/train/train.h"
#include "hydro/worker/messages.h"

namespace hydro::train {
namespace {

using worker::ContainerId;

std::string name_of(ContainerId id) {
  return "container " + std::to_string(static_cast<std::int64_t>(id));
}

/// Without the first call the process-wide number would override this thread's own later.
void use_threads(int threads) {
  static_cast<void>(at::get_num_threads());
  at::set_num_threads(threads);
}

class LocalWorker final : public worker::Worker {
 public:
  explicit LocalWorker(std::shared_ptr<const Study> study) : study_(std::move(study)) {}

  void carry_out(const worker::Command& command,
                 const std::stop_token& stop,
                 const worker::AnswerSink& sink) override {
    const Exchange exchange{.command = command.id, .stop = stop, .sink = sink};
    std::visit([&](const auto& order) { carry_out(order, exchange); }, command.order);
  }

 private:
  struct Exchange {
    worker::CommandId command{};
    const std::stop_token& stop;
    const worker::AnswerSink& sink;

    template <class Body>
    void answer(Body body) const {
      sink({.command = command, .body = std::move(body)});
    }
  };

  void carry_out(const worker::Launch& order, const Exchange& exchange) {
    use_threads(order.threads);
    const Result<void> built = guard("building the trials' networks", [&]() -> Result<void> {
      HYDRO_TRY(Container container, launched(order.spec));
      containers_.insert_or_assign(order.spec.id, std::move(container));
      return {};
    });
    close(order.spec.id, built, exchange);
  }

  Result<Container> launched(const worker::ContainerSpec& spec) {
    if (spec.step == 0) {
      return Container::make(*study_, spec);
    }
    std::vector<Traveller> travellers;
    for (const worker::TrialSpec& trial : spec.trials) {
      HYDRO_TRY(Traveller traveller, waiting(trial));
      travellers.push_back(std::move(traveller));
    }
    HYDRO_TRY(Container container, Container::restore(*study_, spec, travellers));
    HYDRO_CHECK(container.step() == spec.step, "the trials wait at another step");
    for (const worker::TrialSpec& trial : spec.trials) {
      waiting_states().forget(static_cast<std::int64_t>(trial.id));
    }
    return container;
  }

  void carry_out(const worker::Run& order, const Exchange& exchange) {
    use_threads(order.threads);
    Container* container = find(order.container, exchange);
    if (container == nullptr) {
      return;
    }
    bool stopped = false;
    const Result<void> ran = guard("training", [&]() -> Result<void> {
      HYDRO_TRY_VOID(shed_masked_trials(*container));
      HYDRO_TRY(stopped, run(*container, order.to, exchange));
      return {};
    });
    if (ran && stopped) {
      exchange.answer(worker::Stopped{.step = container->step()});
      return;
    }
    close(order.container, ran, exchange);
  }

  /// Stopped trials cost time until the survivors have a container of their own size.
  Result<void> shed_masked_trials(Container& container) const {
    if (container.has_live_trials() && container.has_masked_trials()) {
      HYDRO_TRY(container, container.regrouped(*study_));
    }
    return {};
  }

  /// True when a stop request cut it short.
  static Result<bool> run(Container& container, std::int64_t to, const Exchange& exchange) {
    while (container.has_live_trials()) {
      if (exchange.stop.stop_requested()) {
        return true;
      }
      if (container.owes_evaluation()) {
        HYDRO_TRY(auto reports, container.evaluate(exchange.stop));
        if (!reports) {
          return true;
        }
        for (worker::Report& report : *reports) {
          exchange.answer(std::move(report));
        }
      }
      if (container.step() >= to) {
        return false;
      }
      HYDRO_TRY(auto diverged, container.advance());
      for (worker::Diverged& one : diverged) {
        exchange.answer(std::move(one));
      }
    }
    return false;
  }

  void carry_out(const worker::Drop& order, const Exchange& exchange) {
    if (Container* container = find(order.container, exchange); container != nullptr) {
      container->drop(order.trial);
      exchange.answer(worker::Done{.step = container->step()});
    }
  }

  void carry_out(const worker::Extract& order, const Exchange& exchange) {
    Container* container = find(order.container, exchange);
    if (container == nullptr) {
      return;
    }
    const Result<void> extracted = guard("taking a trial out", [&]() -> Result<void> {
      waiting_states().put(static_cast<std::int64_t>(order.trial),
                           container->state_of(order.trial));
      container->drop(order.trial);
      return {};
    });
    close(order.container, extracted, exchange);
  }

  void carry_out(const worker::Insert& order, const Exchange& exchange) {
    Container* container = find(order.container, exchange);
    if (container == nullptr) {
      return;
    }
    const Result<void> inserted = guard("taking a trial in", [&]() -> Result<void> {
      HYDRO_TRY(const Traveller traveller, waiting(order.trial));
      HYDRO_CHECK(traveller.state->step == container->step(),
                  "the trial waits at another step");
      HYDRO_TRY(*container, container->regrouped(*study_, {&traveller, 1}));
      waiting_states().forget(static_cast<std::int64_t>(order.trial.id));
      return {};
    });
    close(order.container, inserted, exchange);
  }

  void carry_out(const worker::Discard& order, const Exchange& exchange) {
    waiting_states().forget(static_cast<std::int64_t>(order.trial));
    exchange.answer(worker::Done{});
  }

  void carry_out(const worker::Dissolve& order, const Exchange& exchange) {
    if (const Container* container = find(order.container, exchange); container != nullptr) {
      const std::int64_t step = container->step();
      containers_.erase(order.container);
      exchange.answer(worker::Done{.step = step});
    }
  }

  void carry_out(const worker::Export& order, const Exchange& exchange) {
    const Container* container = find(order.container, exchange);
    if (container == nullptr) {
      return;
    }
    const Result<void> written = guard(
        "exporting the weights", [&] { return container->write(order.trial, order.path); });
    close(order.container, written, exchange);
  }

  store::WaitingStates& waiting_states() const {
    HYDRO_CHECK(study_->waiting != nullptr, "no trial of this study can wait");
    return *study_->waiting;
  }

  Result<Traveller> waiting(const worker::TrialSpec& trial) const {
    HYDRO_TRY(auto state, waiting_states().find(static_cast<std::int64_t>(trial.id)));
    return Traveller{.trial = trial, .state = std::move(state)};
  }

  /// Null, and the command answered, when the container is gone.
  Container* find(ContainerId id, const Exchange& exchange) {
    const auto found = containers_.find(id);
    if (found == containers_.end()) {
      exchange.answer(worker::Failed{.error = make_error("H0506", name_of(id) + " is gone")});
      return nullptr;
    }
    return &found->second;
  }

  void close(ContainerId id, const Result<void>& outcome, const Exchange& exchange) {
    if (outcome) {
      exchange.answer(worker::Done{.step = containers_.at(id).step()});
      return;
    }
    containers_.erase(id);
    exchange.answer(worker::Failed{.error = outcome.error()});
  }

  std::shared_ptr<const Study> study_;  // shared with all workers of the study
  std::map<ContainerId, Container> containers_;
};

}  // namespace

std::unique_ptr<worker::Worker> make_worker(std::shared_ptr<const Study> study) {
  return std::make_unique<LocalWorker>(std::move(study));
}

}  // namespace hydro::train
