#include "hydro/search/hyperband.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/search/verdict.h"

namespace hydro::search {
namespace {

constexpr std::int64_t kNobody = -1;

std::size_t at(std::int64_t index) {
  return static_cast<std::size_t>(index);
}

/// log_eta(max_t), rounded, by integers: over k - 1/2 as soon as max_t^2 >= eta^(2k-1).
std::int64_t rounded_log(std::int64_t max_t, std::int64_t eta) {
  std::int64_t k = 0;
  // max_t / eta^k >= eta^(1/2), without overflow for any budget that can be trained.
  for (auto left = static_cast<double>(max_t); left * left >= static_cast<double>(eta);
       left /= static_cast<double>(eta)) {
    ++k;
  }
  return k;
}

}  // namespace

std::vector<BracketPlan> band_of(const BandSettings& settings) {
  const std::int64_t eta = settings.reduction_factor;
  const std::int64_t brackets = rounded_log(settings.max_t, eta) + 1;
  std::vector<BracketPlan> band;
  std::int64_t power = 1;
  for (std::int64_t s = 0; s < brackets; ++s, power *= eta) {
    const std::int64_t milestone = settings.max_t / power;
    if (milestone >= settings.grace_period) {
      band.push_back(
          {.trials = (brackets * power + s) / (s + 1), .milestone = milestone, .halvings = s});
    }
  }
  return band;
}

SynchronousHyperband::SynchronousHyperband(const BandSettings& settings)
    : settings_(settings), band_(band_of(settings)) {
  HYDRO_CHECK(!band_.empty(), "no bracket starts within max_t");
}

void SynchronousHyperband::add() {
  if (brackets_.empty() || brackets_.back().free == 0) {
    const BracketPlan& plan = band_[brackets_.size() % band_.size()];
    brackets_.push_back({.free = plan.trials,
                         .places = plan.trials,
                         .milestone = plan.milestone,
                         .halvings = plan.halvings,
                         .members = {}});
  }
  Bracket& bracket = brackets_.back();
  --bracket.free;
  ++bracket.behind;
  bracket.members.push_back(static_cast<std::int64_t>(trials_.size()));
  trials_.push_back({.bracket = static_cast<std::int64_t>(brackets_.size()) - 1});
}

void SynchronousHyperband::close() {
  closed_ = true;
  if (!brackets_.empty()) {
    settle(brackets_.back(), kNobody);
  }
}

Verdict SynchronousHyperband::report(std::int64_t trial, std::int64_t t, double value) {
  Known& known = trials_.at(at(trial));
  if (t <= known.t || known.waits || known.gone) {
    return {};
  }
  known.t = t;
  known.value = value;
  Bracket& bracket = brackets_[at(known.bracket)];
  if (t < bracket.milestone) {
    return {};
  }
  known.rung = bracket.milestone;
  known.waits = true;
  --bracket.behind;
  if (bracket.halvings == 0) {
    return {};  // it has come to the end
  }
  if (!is_due(bracket)) {
    return {.fate = Fate::kPause,
            .ground = Ground::kRung,
            .at = bracket.milestone,
            .value = value,
            .count = static_cast<std::int64_t>(bracket.members.size()) - bracket.behind};
  }
  return settle(bracket, trial);
}

bool SynchronousHyperband::is_due(const Bracket& bracket) const {
  return bracket.behind == 0 && bracket.halvings > 0 && !bracket.members.empty() &&
         (bracket.free == 0 || closed_);
}

std::vector<Move> SynchronousHyperband::halve(Bracket& bracket) {
  const std::int64_t eta = settings_.reduction_factor;
  const std::int64_t rung = bracket.milestone;
  const auto count = static_cast<std::int64_t>(bracket.members.size());
  --bracket.halvings;
  bracket.places = (bracket.places + eta - 1) / eta;
  bracket.milestone =
      bracket.halvings == 0 ? settings_.max_t : std::min(rung * eta, settings_.max_t);
  std::ranges::sort(bracket.members, [this](std::int64_t left, std::int64_t right) {
    const double a = trials_[at(left)].value;
    const double b = trials_[at(right)].value;
    return a != b ? a > b : left < right;
  });
  std::vector<Move> moves;
  for (const std::int64_t trial : bracket.members) {
    const bool stays = static_cast<std::int64_t>(moves.size()) < bracket.places;
    moves.push_back({.trial = trial,
                     .verdict = {.fate = stays ? Fate::kContinue : Fate::kStop,
                                 .ground = Ground::kRank,
                                 .at = rung,
                                 .value = trials_[at(trial)].value,
                                 .places = bracket.places,
                                 .count = count}});
  }
  bracket.members.resize(at(std::min(bracket.places, count)));
  return moves;
}

Verdict SynchronousHyperband::settle(Bracket& bracket, std::int64_t present) {
  Verdict verdict;
  if (!is_due(bracket)) {
    return verdict;
  }
  bracket.behind = 0;
  for (const Move& move : halve(bracket)) {
    Known& known = trials_[at(move.trial)];
    known.gone = move.verdict.fate == Fate::kStop;
    bracket.behind += known.gone ? 0 : 1;
    if (move.trial == present) {
      known.waits = false;
      verdict = move.verdict;
    } else if (known.gone) {
      moves_.insert(moves_.begin(), move);  // what ends frees memory: first
    } else {
      moves_.push_back(move);
    }
  }
  return verdict;
}

void SynchronousHyperband::remove(std::int64_t trial) {
  Known& known = trials_.at(at(trial));
  std::erase_if(moves_, [trial](const Move& move) { return move.trial == trial; });
  if (known.gone) {
    return;
  }
  known.gone = true;
  Bracket& bracket = brackets_[at(known.bracket)];
  std::erase(bracket.members, trial);
  bracket.behind -= known.waits ? 0 : 1;
  settle(bracket, kNobody);
}

std::int64_t SynchronousHyperband::milestone(std::int64_t trial) const {
  const Known& known = trials_.at(at(trial));
  return brackets_[at(known.bracket)].milestone;
}

std::optional<Move> SynchronousHyperband::next() const {
  return moves_.empty() ? std::nullopt : std::optional(moves_.front());
}

void SynchronousHyperband::make(const Move& move) {
  HYDRO_CHECK(!moves_.empty() && moves_.front().trial == move.trial, "moves have an order");
  moves_.erase(moves_.begin());
  trials_[at(move.trial)].waits = false;
}

Verdict SynchronousHyperband::standing(std::int64_t trial) const {
  const Known& known = trials_.at(at(trial));
  const Bracket& bracket = brackets_[at(known.bracket)];
  return {.fate = Fate::kStop,
          .ground = Ground::kRung,
          .at = known.rung,
          .value = known.value,
          .count = static_cast<std::int64_t>(bracket.members.size()) - bracket.behind};
}

std::int64_t SynchronousHyperband::rung(std::int64_t trial) const {
  return trials_.at(at(trial)).rung;
}

}  // namespace hydro::search
