#include "hydro/search/scheduler.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/search/asha.h"
#include "hydro/search/hyperband.h"
#include "hydro/search/median.h"
#include "hydro/search/rungs.h"
#include "hydro/search/verdict.h"

namespace hydro::search {
namespace {

using Rule = std::variant<Fifo, AshaStopping, AshaPromotion, SynchronousHyperband, Median>;

Rule halving(const SchedulerSettings& settings) {
  const RungSettings rungs{.grace_period = settings.grace_period,
                           .reduction_factor = settings.reduction_factor,
                           .max_t = settings.max_t,
                           .shares = bracket_shares(settings)};
  return settings.type == SchedulerType::kPromotion ? Rule(AshaPromotion(rungs))
                                                    : Rule(AshaStopping(rungs));
}

Rule rule_of(const SchedulerSettings& settings) {
  switch (settings.kind) {
    case SchedulerKind::kFifo:
      return Fifo(settings.max_t);
    case SchedulerKind::kMedian:
      return Median({.grace_period = settings.grace_period,
                     .max_t = settings.max_t,
                     .min_samples = settings.min_samples});
    case SchedulerKind::kHyperband:
    case SchedulerKind::kAsha:
      break;
  }
  return settings.type == SchedulerType::kSynchronous
             ? Rule(SynchronousHyperband({.grace_period = settings.grace_period,
                                          .reduction_factor = settings.reduction_factor,
                                          .max_t = settings.max_t}))
             : halving(settings);
}

// What a rule does not do has one answer here.

template <class Held>
concept MakesMoves = requires(Held held, const Move& move) { held.make(move); };

template <class Held>
concept HasRungs = requires(const Held held) { held.rung(0); };

}  // namespace

std::vector<double> bracket_shares(const SchedulerSettings& settings) {
  const std::vector<std::int64_t> levels =
      rung_levels(settings.grace_period, settings.max_t, settings.reduction_factor);
  return settings.kind == SchedulerKind::kHyperband
             ? budget_shares(levels, settings.brackets)
             : softmax_shares(static_cast<std::int64_t>(levels.size()), settings.brackets);
}

Scheduler::Scheduler(const SchedulerSettings& settings) : rule_(rule_of(settings)) {
  HYDRO_CHECK(settings.grace_period >= 1 && settings.grace_period <= settings.max_t,
              "the grace period is within max_t");
}

void Scheduler::add() {
  std::visit([](auto& rule) { rule.add(); }, rule_);
}

void Scheduler::close() {
  if (auto* bands = std::get_if<SynchronousHyperband>(&rule_)) {
    bands->close();
  }
}

Verdict Scheduler::report(std::int64_t trial, std::int64_t t, double value) {
  if (!std::isfinite(value)) {
    return {.fate = Fate::kFail};
  }
  return std::visit([&](auto& rule) { return rule.report(trial, t, value); }, rule_);
}

void Scheduler::remove(std::int64_t trial) {
  std::visit(
      [&](auto& rule) {
        if constexpr (MakesMoves<std::remove_cvref_t<decltype(rule)>>) {
          rule.remove(trial);
        }
      },
      rule_);
}

std::int64_t Scheduler::milestone(std::int64_t trial) const {
  return std::visit([&](const auto& rule) { return rule.milestone(trial); }, rule_);
}

std::optional<Move> Scheduler::next() const {
  return std::visit(
      [](const auto& rule) -> std::optional<Move> {
        if constexpr (MakesMoves<std::remove_cvref_t<decltype(rule)>>) {
          return rule.next();
        } else {
          return std::nullopt;
        }
      },
      rule_);
}

void Scheduler::make(const Move& move) {
  std::visit(
      [&](auto& rule) {
        if constexpr (MakesMoves<std::remove_cvref_t<decltype(rule)>>) {
          rule.make(move);
        } else {
          HYDRO_CHECK(false, "this scheduler has no waiting trials");
        }
      },
      rule_);
}

Verdict Scheduler::standing(std::int64_t trial) const {
  return std::visit(
      [&](const auto& rule) -> Verdict {
        if constexpr (MakesMoves<std::remove_cvref_t<decltype(rule)>>) {
          return rule.standing(trial);
        } else {
          HYDRO_CHECK(false, "this scheduler has no waiting trials");
        }
      },
      rule_);
}

std::int64_t Scheduler::rung(std::int64_t trial) const {
  return std::visit(
      [&](const auto& rule) -> std::int64_t {
        if constexpr (HasRungs<std::remove_cvref_t<decltype(rule)>>) {
          return rule.rung(trial);
        } else {
          return 0;
        }
      },
      rule_);
}

}  // namespace hydro::search
