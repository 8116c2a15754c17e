#include "hydro/shrink/coordinates.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/query.h"
#include "hydro/shrink/sizes.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

namespace {

constexpr double kCheckFactor = 4;
constexpr std::int64_t kNarrowest = 16;
constexpr std::int64_t kNarrowestWithAttention = 32;

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
                    .not_judged_because = pair.not_judged_because,
                    .has_steady_activation = pair.has_steady_activation};
  layer.passed = !layer.judged() || within(layer.update_ratio, band.layer_low, band.layer_high);
  return layer;
}

void judge(
    std::string what, double value, double low, double high, CoordinateVerdict& verdict) {
  if (!within(value, low, high)) {
    verdict.misses.push_back(
        {.what = std::move(what), .value = value, .low = low, .high = high});
  }
}

void judge_activations(const Band& band, CoordinateVerdict& verdict) {
  std::map<std::pair<Role, std::string>, std::vector<double>> kinds;
  for (const JudgedLayer& layer : verdict.layers) {
    if (layer.has_steady_activation) {
      kinds[{layer.role, kind_of_layer(layer.layer)}].push_back(layer.activation_ratio);
    }
  }
  for (const auto& [kind, ratios] : kinds) {
    judge("mean activation of " + std::string(role_name(kind.first)) + " layers `" +
              kind.second + "`",
          geometric_mean(ratios),
          1 / band.activation,
          band.activation,
          verdict);
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

/// Of the dimensions that shrink: kernel sizes and classes do not.
std::int64_t narrowest_dimension(const ParameterPlan& plan) {
  std::int64_t narrowest = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < plan.surrogate_shape.size(); ++i) {
    if (plan.surrogate_shape[i] != plan.shape[i]) {
      narrowest = std::min(narrowest, plan.surrogate_shape[i]);
    }
  }
  return narrowest;
}

bool is_too_narrow(const ParameterPlan& layer, const CoordinatePlan& plan) {
  return narrowest_dimension(layer) < plan.narrowest;
}

std::string not_judged_because(const ParameterPlan& layer,
                               const LayerMeasure& measure,
                               const CoordinatePlan& plan,
                               QueriesAndKeys queries_and_keys) {
  if (is_too_narrow(layer, plan)) {
    return "narrower than " + std::to_string(plan.narrowest);
  }
  if (measure.usage == WeightUsage::kLookup) {
    return "an embedding";
  }
  const bool printed = queries_and_keys == QueriesAndKeys::kPrinted;
  return printed && plan.logit_weights.contains(layer.name) ? "query or key under SGD" : "";
}

/// Scores of a head tied to an embedding start as sums over the width, with its multiplier:
/// they grow with the root of the ratio.
bool has_steady_activation(const ParameterPlan& layer,
                           const LayerMeasure& measure,
                           const CoordinatePlan& plan) {
  const bool is_tied_head = layer.tied && measure.usage == WeightUsage::kProduct;
  return layer.role != Role::kNone && !is_tied_head && !is_too_narrow(layer, plan);
}

}  // namespace

bool starts_at_zero(const Surrogate& surrogate) {
  return std::ranges::any_of(surrogate.parameters, &ParameterPlan::readout);
}

std::string kind_of_layer(const std::string& layer) {
  std::string kind;
  for (const char letter : layer) {
    if (std::isdigit(static_cast<unsigned char>(letter)) == 0) {
      kind += letter;
    } else if (!kind.ends_with('*')) {
      kind += '*';
    }
  }
  return kind;
}

std::vector<LayerPair> pair_layers(const Surrogate& narrow,
                                   const CoordinateMeasure& wide_measure,
                                   const CoordinateMeasure& narrow_measure,
                                   const CoordinatePlan& plan,
                                   QueriesAndKeys queries_and_keys) {
  HYDRO_CHECK(wide_measure.layers.size() == narrow_measure.layers.size(), "two models");
  std::vector<LayerPair> pairs;
  for (std::size_t i = 0; i < narrow_measure.layers.size(); ++i) {
    const LayerMeasure& low = narrow_measure.layers[i];
    const LayerMeasure& high = wide_measure.layers[i];
    const auto layer = std::ranges::find(narrow.parameters, low.layer, &ParameterPlan::name);
    HYDRO_CHECK(layer != narrow.parameters.end() && high.layer == low.layer, low.layer);
    pairs.push_back(
        {.layer = low.layer,
         .role = layer->role,
         .not_judged_because = not_judged_because(*layer, low, plan, queries_and_keys),
         .has_steady_activation = has_steady_activation(*layer, low, plan),
         .wide_update = high.update,
         .narrow_update = low.update,
         .wide_activation = high.activation,
         .narrow_activation = low.activation});
  }
  return pairs;
}

CoordinateVerdict judge_coordinates(const std::vector<LayerPair>& layers,
                                    const std::vector<double>& wide_losses,
                                    const std::vector<double>& narrow_losses,
                                    const Band& band) {
  CoordinateVerdict verdict{.band = band};
  std::vector<double> hidden;
  for (const LayerPair& pair : layers) {
    const JudgedLayer layer = judge_layer(pair, band);
    if (layer.judged()) {
      judge(layer.layer, layer.update_ratio, band.layer_low, band.layer_high, verdict);
    }
    if (layer.judged() && layer.role == Role::kHidden) {
      hidden.push_back(layer.update_ratio);
    }
    verdict.layers.push_back(layer);
  }
  verdict.hidden_mean = geometric_mean(hidden);
  judge("geometric mean over hidden layers",
        verdict.hidden_mean,
        band.mean_low,
        band.mean_high,
        verdict);
  judge_activations(band, verdict);
  verdict.losses_compared = !wide_losses.empty();
  verdict.losses_equal = wide_losses == narrow_losses;
  if (!verdict.losses_equal) {
    const double value = wide_losses.empty() || narrow_losses.empty()
                             ? 0
                             : ratio(narrow_losses.front(), wide_losses.front());
    verdict.misses.push_back({.what = "step-1 loss", .value = value});
  }
  verdict.passed = verdict.misses.empty();
  return verdict;
}

Result<CoordinatePlan> plan_coordinates(const ir::Model& model, const Options& options) {
  HYDRO_TRY(const Analysis analysis, analyse(model));
  CoordinatePlan plan;
  plan.narrowest = analysis.attentions.empty() ? kNarrowest : kNarrowestWithAttention;
  plan.logit_weights = logit_weights(model, analysis);
  Options at = options;
  at.scaling = std::max(options.scaling, kCheckFactor);
  const auto has_narrower = [&] {
    const Sizes sizes = choose_sizes(analysis, model, at);
    return narrowest_width(width_classes(analysis, model, sizes, at.scaling)) < plan.narrowest;
  };
  while (at.scaling > kCheckFactor && has_narrower()) {
    at.scaling = std::max(at.scaling - 1, kCheckFactor);
  }
  plan.wide = at.scaling / kCheckFactor;
  plan.narrow = at.scaling;
  return plan;
}

}  // namespace hydro::shrink
