#include "hydro/shrink/parametrization.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

namespace {

constexpr Power kOne{};
constexpr Power kIn{.in = 1, .out = 0};
constexpr Power kOut{.in = 0, .out = 1};
constexpr Power kPerIn{.in = -1, .out = 0};
constexpr Power kPerOut{.in = 0, .out = -1};
constexpr Power kInPerOut{.in = 1, .out = -1};
constexpr Power kOutPerIn{.in = -1, .out = 1};

using Table = std::array<FactorRow, 6>;

// NOLINTBEGIN(modernize-use-designated-initializers): the tables of the papers, one line a role
// Columns: variance, SGD lr, SGD decay, Adam and AdamW lr, Adam eps.
constexpr Table kMup = {{
    {Role::kInput, kOne, kPerOut, kOut, kOne, kOut},
    {Role::kHidden, kIn, kInPerOut, kOutPerIn, kIn, kOut},
    {Role::kOutput, kOne, kPerIn, kIn, kOne, kIn},
    {Role::kVector, kOne, kPerOut, kOut, kOne, kOut},
    {Role::kOutputBias, kOne, kOne, kOne, kOne, kOne},
    {Role::kNone, kOne, kOne, kOne, kOne, kOne},
}};

// The original paper's rules where it gives any: input variance, hidden SGD lr. Kept to show
// that they fail.
constexpr Table kPaper = {{
    {Role::kInput, kOut, kPerOut, kOut, kOne, kOut},
    {Role::kHidden, kIn, kIn, kOutPerIn, kIn, kOut},
    {Role::kOutput, kOne, kPerIn, kIn, kOne, kIn},
    {Role::kVector, kOne, kPerOut, kOut, kOne, kOut},
    {Role::kOutputBias, kOne, kOne, kOne, kOne, kOne},
    {Role::kNone, kOne, kOne, kOne, kOne, kOne},
}};

// What a narrower model built by hand has: variance follows the fan-in, nothing else is scaled.
constexpr Table kStandard = {{
    {Role::kInput, kOne, kOne, kOne, kOne, kOne},
    {Role::kHidden, kIn, kOne, kOne, kOne, kOne},
    {Role::kOutput, kIn, kOne, kOne, kOne, kOne},
    {Role::kVector, kOne, kOne, kOne, kOne, kOne},
    {Role::kOutputBias, kOne, kOne, kOne, kOne, kOne},
    {Role::kNone, kOne, kOne, kOne, kOne, kOne},
}};

// NOLINTEND(modernize-use-designated-initializers)

const Table& table(Parametrization parametrization) {
  switch (parametrization) {
    case Parametrization::kMup:
      return kMup;
    case Parametrization::kPaper:
      return kPaper;
    case Parametrization::kStandard:
      return kStandard;
  }
  HYDRO_CHECK(false, "unknown parametrization");
}

double power(double base, int exponent) {
  double result = 1;
  for (int i = 0; i < std::abs(exponent); ++i) {
    result = exponent > 0 ? result * base : result / base;
  }
  return result;
}

/// Spread around the law's own centre times `factor`.
ir::Law spread(ir::Law law, double factor) {
  const double centre = law.kind == ir::LawKind::kUniform ? (law.low + law.high) / 2 : law.mean;
  law.std *= factor;
  law.low = centre + (law.low - centre) * factor;
  law.high = centre + (law.high - centre) * factor;
  return law;
}

}  // namespace

double Power::of(double r_in, double r_out) const {
  // Numerator first, so that equal ratios give exactly 1.
  const double up = power(r_in, std::max(in, 0)) * power(r_out, std::max(out, 0));
  const double down = power(r_in, std::max(-in, 0)) * power(r_out, std::max(-out, 0));
  return up / down;
}

const FactorRow& factor_row(Parametrization parametrization, Role role) {
  const Table& rows = table(parametrization);
  const auto* found = std::ranges::find(rows, role, &FactorRow::role);
  HYDRO_CHECK(found != rows.end(), "role without a row");
  return *found;
}

bool has_multiplier(Parametrization parametrization) {
  return parametrization != Parametrization::kStandard;
}

void apply_factors(Parametrization parametrization, ParameterPlan& plan) {
  const FactorRow& row = factor_row(parametrization, plan.role);
  const auto value = [&](const Power& factor) { return factor.of(plan.r_in, plan.r_out); };
  const double adam_lr = value(row.adam_lr);
  plan.sgd = {.lr = value(row.sgd_lr), .decay = value(row.sgd_decay), .eps = 1};
  // L2 inside Adam has no valid factor; callers refuse it at S > 1.
  plan.adam = {.lr = adam_lr, .decay = 1, .eps = value(row.adam_eps)};
  plan.adamw = {.lr = adam_lr, .decay = 1 / adam_lr, .eps = value(row.adam_eps)};
  // The fan-in of a tied embedding's second use is the fan-out of its first.
  const double fan_in = plan.tied ? plan.r_out : plan.r_in;
  const bool multiplied =
      (plan.role == Role::kOutput || plan.tied) && has_multiplier(parametrization);
  plan.multiplier = multiplied ? fan_in : 1;
}

std::vector<ir::Law> surrogate_laws(const std::vector<ir::Law>& laws,
                                    double variance,
                                    const std::function<std::int64_t(std::int64_t)>& new_row) {
  std::vector<ir::Law> out;
  for (const ir::Law& law : laws) {
    ir::Law next = variance == 1 ? law : spread(law, std::sqrt(variance));
    next.row_begin = new_row(law.row_begin);
    next.row_end = new_row(law.row_end);
    out.push_back(next);
  }
  std::erase_if(out, [](const ir::Law& law) { return law.row_begin == law.row_end; });
  return out;
}

std::vector<ir::Law> zero_laws(std::int64_t rows) {
  return {{.row_begin = 0, .row_end = rows, .kind = ir::LawKind::kConstant, .value = 0}};
}

}  // namespace hydro::shrink
