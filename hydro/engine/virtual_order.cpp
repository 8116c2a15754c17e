#include "hydro/engine/virtual_order.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/worker.h"

namespace hydro::engine {
namespace {

using worker::Answer;
using worker::CommandId;
using worker::ContainerId;
using worker::SlotId;

struct Timed {
  Answer answer;
  double time = 0;
};

/// One slot's command under way.
struct Work {
  double start = 0;
  double per_step = 0;  // of a run; else nothing takes time
  std::int64_t from = 0;
  std::deque<Timed> answers;  // arrived, not passed on

  /// A failure has no step: it comes right after what came before it.
  [[nodiscard]] double last_time() const {
    return answers.empty() ? start : answers.back().time;
  }
};

struct Container {
  double cost = 0;  // of a step, a trial
  std::int64_t trials = 0;
  std::int64_t step = 0;
};

bool closes(const Answer& answer) {
  return !std::holds_alternative<worker::Report>(answer.body) &&
         !std::holds_alternative<worker::Diverged>(answer.body);
}

std::optional<std::int64_t> step_of(const Answer& answer) {
  return std::visit(
      [](const auto& body) -> std::optional<std::int64_t> {
        if constexpr (requires { body.step; }) {
          return body.step;
        } else {
          return std::nullopt;
        }
      },
      answer.body);
}

/// What closes a command has no trial and comes last.
std::int64_t trial_of(const Answer& answer) {
  return std::visit(
      [](const auto& body) -> std::int64_t {
        if constexpr (requires { body.trial; }) {
          return static_cast<std::int64_t>(body.trial);
        } else {
          return std::numeric_limits<std::int64_t>::max();
        }
      },
      answer.body);
}

class VirtualOrder final : public worker::Engine {
 public:
  VirtualOrder(std::unique_ptr<worker::Engine> engine, StepCost cost)
      : engine_(std::move(engine)), cost_(std::move(cost)) {}

  [[nodiscard]] std::vector<SlotId> slots() const override { return engine_->slots(); }

  void submit(SlotId slot, worker::Command command) override {
    Work work;
    work.start = std::max(free_at_[slot], now_);
    note(command.order, work);
    slot_of_[command.id] = slot;
    HYDRO_CHECK(busy_.emplace(slot, std::move(work)).second,
                "a slot has one command at a time");
    engine_->submit(slot, std::move(command));
  }

  [[nodiscard]] std::optional<Answer> wait(std::chrono::milliseconds patience) override {
    while (!stopping_ && !all_have_answered()) {
      std::optional<Answer> arrived = engine_->wait(patience);
      if (!arrived) {
        return std::nullopt;
      }
      keep(*std::move(arrived));
    }
    if (std::optional<Answer> next = take_first()) {
      return next;
    }
    std::optional<Answer> arrived = engine_->wait(patience);
    if (!arrived) {
      return std::nullopt;
    }
    keep(*std::move(arrived));
    return take_first();
  }

  void request_stop() override {
    stopping_ = true;
    engine_->request_stop();
  }

 private:
  /// What an order means for the times of containers.
  void note(const worker::Order& order, Work& work) {
    if (const auto* launch = std::get_if<worker::Launch>(&order)) {
      containers_[launch->spec.id] = {
          .cost = cost_(launch->spec),
          .trials = static_cast<std::int64_t>(launch->spec.trials.size()),
          .step = launch->spec.step};
    } else if (const auto* run = std::get_if<worker::Run>(&order)) {
      Container& container = containers_.at(run->container);
      work.per_step = container.cost * static_cast<double>(container.trials);
      work.from = container.step;
      container.step = run->to;
    } else if (const auto* drop = std::get_if<worker::Drop>(&order)) {
      --containers_.at(drop->container).trials;
    } else if (const auto* extract = std::get_if<worker::Extract>(&order)) {
      --containers_.at(extract->container).trials;
    } else if (const auto* insert = std::get_if<worker::Insert>(&order)) {
      ++containers_.at(insert->container).trials;
    }
  }

  [[nodiscard]] bool all_have_answered() const {
    return !busy_.empty() && std::ranges::all_of(busy_, [](const auto& slot) {
      return !slot.second.answers.empty();
    });
  }

  void keep(Answer answer) {
    Work& work = busy_.at(slot_of_.at(answer.command));
    const std::optional<std::int64_t> step = step_of(answer);
    const double time =
        step && work.per_step > 0
            ? work.start + work.per_step * static_cast<double>(*step - work.from)
            : work.last_time();
    work.answers.push_back({.answer = std::move(answer), .time = time});
  }

  [[nodiscard]] std::optional<Answer> take_first() {
    auto first = busy_.end();
    for (auto slot = busy_.begin(); slot != busy_.end(); ++slot) {
      if (!slot->second.answers.empty() && (first == busy_.end() || key(slot) < key(first))) {
        first = slot;
      }
    }
    if (first == busy_.end()) {
      return std::nullopt;
    }
    Timed timed = std::move(first->second.answers.front());
    first->second.answers.pop_front();
    now_ = std::max(now_, timed.time);
    if (closes(timed.answer)) {
      free_at_[first->first] = timed.time;
      slot_of_.erase(timed.answer.command);
      busy_.erase(first);
    }
    return std::move(timed.answer);
  }

  using Busy = std::map<SlotId, Work>;

  static std::tuple<double, std::int64_t, SlotId> key(Busy::const_iterator slot) {
    const Timed& front = slot->second.answers.front();
    return {front.time, trial_of(front.answer), slot->first};
  }

  std::unique_ptr<worker::Engine> engine_;
  StepCost cost_;
  Busy busy_;
  std::map<SlotId, double> free_at_;
  std::map<CommandId, SlotId> slot_of_;
  std::map<ContainerId, Container> containers_;
  double now_ = 0;
  bool stopping_ = false;
};

}  // namespace

std::unique_ptr<worker::Engine> make_virtual_order(std::unique_ptr<worker::Engine> engine,
                                                   StepCost cost) {
  return std::make_unique<VirtualOrder>(std::move(engine), std::move(cost));
}

}  // namespace hydro::engine
