// hydro/shrink/parametrization.h — the tables of width factors: what a role multiplies its
// hyperparameters and initial variance by. Source: DESIGN "Parametrization"; hydro-hfta-mup.md,
// section 0.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hydro/ir/model.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

/// r_in^in * r_out^out
struct Power {
  int in = 0;
  int out = 0;

  [[nodiscard]] double of(double r_in, double r_out) const;
};

/// One row of a table. AdamW's decay is no column: lr x decay is kept, so it is the inverse of
/// Adam's lr.
struct FactorRow {
  Role role = Role::kNone;
  Power variance;
  Power sgd_lr;
  Power sgd_decay;
  Power adam_lr;
  Power adam_eps;
};

[[nodiscard]] const FactorRow& factor_row(Parametrization parametrization, Role role);

/// Whether activations entering an output weight are multiplied by r_in, and the readout starts
/// at zero.
[[nodiscard]] bool has_multiplier(Parametrization parametrization);

/// Fills factors and multiplier from role, r_in and r_out.
void apply_factors(Parametrization parametrization, ParameterPlan& plan);

/// The surrogate's laws: spread scaled, rows where `new_row` puts them.
[[nodiscard]] std::vector<ir::Law> surrogate_laws(
    const std::vector<ir::Law>& laws,
    double variance,
    const std::function<std::int64_t(std::int64_t)>& new_row);
/// One law, constant 0.
[[nodiscard]] std::vector<ir::Law> zero_laws(std::int64_t rows);

}  // namespace hydro::shrink
