#include "hydro/search/asha.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/search/order_statistics.h"
#include "hydro/search/rungs.h"
#include "hydro/search/verdict.h"

namespace hydro::search {
namespace {

std::size_t at(std::int64_t index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

// --- stopping ---

AshaStopping::AshaStopping(const RungSettings& settings)
    : max_t_(settings.max_t),
      levels_(rung_levels(settings.grace_period, settings.max_t, settings.reduction_factor)),
      values_(settings.shares.size(),
              std::vector<Quantile>(
                  levels_.size(),
                  Quantile(settings.reduction_factor - 1, settings.reduction_factor))),
      spread_(settings.shares) {}

void AshaStopping::add() {
  trials_.push_back({.bracket = spread_.next()});
}

Verdict AshaStopping::report(std::int64_t trial, std::int64_t t, double value) {
  Known& known = trials_.at(at(trial));
  if (t <= known.t) {
    return {};
  }
  known.t = t;
  // The highest rung that it has come to and that has no value of it; after a jump over rungs
  // the lower ones take later values.
  for (std::size_t k = levels_.size(); k-- > at(known.bracket);) {
    const std::uint64_t bit = std::uint64_t{1} << k;
    if (t < levels_[k] || (known.recorded & bit) != 0) {
      continue;
    }
    known.recorded |= bit;
    Quantile& values = values_[at(known.bracket)][k];
    const std::optional<double> cut_off = values.value();
    Verdict verdict;
    if (t < max_t_ && cut_off && value < *cut_off) {
      verdict = {.fate = Fate::kStop,
                 .ground = Ground::kCutOff,
                 .at = levels_[k],
                 .value = value,
                 .bound = *cut_off,
                 .count = values.count()};
    }
    values.add(value);
    return verdict;
  }
  return {};
}

std::int64_t AshaStopping::milestone(std::int64_t trial) const {
  const Known& known = trials_.at(at(trial));
  for (std::size_t k = at(known.bracket); k < levels_.size(); ++k) {
    if (levels_[k] > known.t) {
      return levels_[k];
    }
  }
  return max_t_;
}

std::int64_t AshaStopping::rung(std::int64_t trial) const {
  const Known& known = trials_.at(at(trial));
  for (std::size_t k = levels_.size(); k-- > 0;) {
    if ((known.recorded >> k & 1) != 0) {
      return levels_[k];
    }
  }
  return 0;
}

// --- promotion ---

AshaPromotion::AshaPromotion(const RungSettings& settings)
    : max_t_(settings.max_t),
      levels_(
          rung_levels(settings.grace_period, settings.max_t - 1, settings.reduction_factor)),
      rungs_(settings.shares.size(),
             std::vector<BestShare>(levels_.size(), BestShare(settings.reduction_factor))),
      spread_(settings.shares) {}

void AshaPromotion::add() {
  const std::int64_t bracket = spread_.next();
  trials_.push_back({.bracket = bracket, .rung = bracket});
}

const BestShare& AshaPromotion::rung_of(const Known& trial) const {
  return rungs_[at(trial.bracket)][at(trial.rung)];
}

Verdict AshaPromotion::report(std::int64_t trial, std::int64_t t, double value) {
  Known& known = trials_.at(at(trial));
  if (t <= known.t || known.waits) {
    return {};
  }
  known.t = t;
  if (at(known.rung) >= levels_.size() || t < levels_[at(known.rung)]) {
    return {};
  }
  BestShare& rung = rungs_[at(known.bracket)][at(known.rung)];
  rung.add(trial, value);
  known.waits = true;
  known.value = value;
  return {.fate = Fate::kPause,
          .ground = Ground::kRung,
          .at = levels_[at(known.rung)],
          .value = value,
          .count = rung.count()};
}

std::int64_t AshaPromotion::milestone(std::int64_t trial) const {
  const Known& known = trials_.at(at(trial));
  return at(known.rung) < levels_.size() ? levels_[at(known.rung)] : max_t_;
}

Verdict AshaPromotion::standing(std::int64_t trial) const {
  const Known& known = trials_.at(at(trial));
  HYDRO_CHECK(known.waits, "the trial does not wait");
  const BestShare& rung = rung_of(known);
  return {.fate = Fate::kStop,
          .ground = Ground::kRank,
          .at = levels_[at(known.rung)],
          .value = known.value,
          .places = rung.places(),
          .count = rung.count()};
}

std::optional<Move> AshaPromotion::next() const {
  for (std::size_t k = levels_.size(); k-- > 0;) {
    for (const std::vector<BestShare>& bracket : rungs_) {
      if (const std::optional<std::int64_t> best = bracket[k].best()) {
        Verdict verdict = standing(*best);
        verdict.fate = Fate::kContinue;
        return Move{.trial = *best, .verdict = verdict};
      }
    }
  }
  return std::nullopt;
}

void AshaPromotion::make(const Move& move) {
  Known& known = trials_.at(at(move.trial));
  HYDRO_CHECK(known.waits, "the trial does not wait");
  rungs_[at(known.bracket)][at(known.rung)].take(move.trial, known.value);
  known.waits = false;
  ++known.rung;
}

void AshaPromotion::remove(std::int64_t trial) {
  Known& known = trials_.at(at(trial));
  if (known.waits) {
    rungs_[at(known.bracket)][at(known.rung)].take(trial, known.value);
  }
}

std::int64_t AshaPromotion::rung(std::int64_t trial) const {
  const Known& known = trials_.at(at(trial));
  const std::int64_t reached = known.waits ? known.rung : known.rung - 1;
  return reached >= known.bracket ? levels_[at(reached)] : 0;
}

}  // namespace hydro::search
