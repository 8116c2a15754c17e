#include "hydro/shrink/coordinates.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/sizes.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

namespace {

constexpr double kCheckFactor = 4;

/// Both zero: nothing moved at either width, which is the same speed.
double ratio(double narrow, double wide) {
  return narrow == 0 && wide == 0 ? 1 : narrow / wide;
}

/// Written so that NaN is outside.
bool within(double value, double low, double high) {
  return value >= low && value <= high;
}

/// 1 when there is none.
double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += std::log(value);
  }
  return values.empty() ? 1 : std::exp(sum / static_cast<double>(values.size()));
}

JudgedLayer judge_layer(const LayerPair& pair, const Band& band) {
  JudgedLayer layer{.layer = pair.layer,
                    .role = pair.role,
                    .update_ratio = ratio(pair.narrow_update, pair.wide_update),
                    .activation_ratio = ratio(pair.narrow_activation, pair.wide_activation),
                    .judged = pair.narrow_width >= band.narrowest,
                    .passed = true};
  layer.passed = !layer.judged || within(layer.update_ratio, band.layer_low, band.layer_high);
  return layer;
}

void judge_activations(const Band& band, CoordinateVerdict& verdict) {
  for (const Role role : {Role::kInput, Role::kHidden, Role::kOutput, Role::kVector}) {
    std::vector<double> ratios;
    for (const JudgedLayer& layer : verdict.layers) {
      if (layer.judged && layer.role == role) {
        ratios.push_back(layer.activation_ratio);
      }
    }
    if (!within(geometric_mean(ratios), 1 / band.activation, band.activation)) {
      verdict.failed.push_back("mean activation of " + std::string(role_name(role)) +
                               " layers");
    }
  }
}

/// The narrowest width that shrinks at all.
std::int64_t narrowest_width(const std::vector<WidthClass>& classes) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const WidthClass& width : classes) {
    if (width.pinned_because.empty() && width.ratio > 1) {
      least = std::min(least, width.whole);
    }
  }
  return least;
}

}  // namespace

bool starts_at_zero(const Surrogate& surrogate) {
  return std::ranges::any_of(surrogate.parameters, &ParameterPlan::readout);
}

CoordinateVerdict judge_coordinates(const std::vector<LayerPair>& layers,
                                    const std::vector<double>& wide_losses,
                                    const std::vector<double>& narrow_losses,
                                    const Band& band) {
  CoordinateVerdict verdict;
  std::vector<double> hidden;
  for (const LayerPair& pair : layers) {
    const JudgedLayer layer = judge_layer(pair, band);
    if (!layer.passed) {
      verdict.failed.push_back(layer.layer);
    }
    if (layer.judged && layer.role == Role::kHidden) {
      hidden.push_back(layer.update_ratio);
    }
    verdict.layers.push_back(layer);
  }
  verdict.hidden_mean = geometric_mean(hidden);
  if (!within(verdict.hidden_mean, band.mean_low, band.mean_high)) {
    verdict.failed.emplace_back("geometric mean over hidden layers");
  }
  judge_activations(band, verdict);
  verdict.losses_compared = !wide_losses.empty();
  verdict.losses_equal = wide_losses == narrow_losses;
  if (!verdict.losses_equal) {
    verdict.failed.emplace_back("step-1 loss");
  }
  verdict.passed = verdict.failed.empty();
  return verdict;
}

Result<CoordinateWidths> coordinate_widths(const ir::Model& model,
                                           const Options& options,
                                           std::int64_t narrowest) {
  HYDRO_TRY(const Analysis analysis, analyse(model));
  Options at = options;
  at.scaling = std::max(options.scaling, kCheckFactor);
  const auto narrow_at = [&] {
    const Sizes sizes = choose_sizes(analysis, model, at);
    return narrowest_width(width_classes(analysis, model, sizes, at.scaling)) < narrowest;
  };
  while (at.scaling > kCheckFactor && narrow_at()) {
    at.scaling = std::max(at.scaling - 1, kCheckFactor);
  }
  return CoordinateWidths{.wide = at.scaling / kCheckFactor, .narrow = at.scaling};
}

}  // namespace hydro::shrink
