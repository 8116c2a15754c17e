// hydro/shrink/coordinates.h — judges a coordinate check: did every layer learn at the same
// speed at both widths? `train` measures, this room judges. Source: DESIGN "Coordinate check".
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

enum class WeightUsage : std::uint8_t { kProduct, kLookup };

/// One use of one weight at one width, averaged over seeds.
struct LayerMeasure {
  std::string layer;  // parameter name of the weight
  WeightUsage usage = WeightUsage::kProduct;
  double update = 0;      // mean |(W_t - W_0) x_t| at t = 3
  double activation = 0;  // mean |h| of the layer's output at t = 3
};

struct CoordinateMeasure {
  std::vector<LayerMeasure> layers = {};
  std::vector<double> first_losses = {};  // step-1 loss by seed
};

/// What is compared for a study at S: shrink factors {s, 4s}, where s may be under 1.5 and
/// needs Saving::kAny.
struct CoordinatePlan {
  double wide = 1;
  double narrow = 4;
  std::int64_t narrowest = 16;               // layers narrower at 4s are printed, not judged
  std::set<std::string> logit_weights = {};  // weights of queries and keys
};

[[nodiscard]] Result<CoordinatePlan> plan_coordinates(const ir::Model& model,
                                                      const Options& options);

/// One weight at the wide (s) and the narrow (4s) width.
struct LayerPair {
  std::string layer;
  Role role = Role::kHidden;
  std::string not_judged_because = {};  // empty: its update is judged
  bool has_steady_activation = true;    // mean |h| is the same at every width
  double wide_update = 0;
  double narrow_update = 0;
  double wide_activation = 0;
  double narrow_activation = 0;
};

/// Whether the weights of queries and keys are judged: under SGD the right table itself reads
/// 2.5 to 4.3 there.
enum class QueriesAndKeys : std::uint8_t { kJudged, kPrinted };

/// Requires: both measured on one model, `narrow` its surrogate at plan.narrow (BugError)
[[nodiscard]] std::vector<LayerPair> pair_layers(const Surrogate& narrow,
                                                 const CoordinateMeasure& wide_measure,
                                                 const CoordinateMeasure& narrow_measure,
                                                 const CoordinatePlan& plan,
                                                 QueriesAndKeys queries_and_keys);

struct Band {
  double layer_low = 0.5;   // short form: 0.33
  double layer_high = 2.0;  // short form: 3
  double mean_low =
      0.75;  // geometric mean over hidden layers; short form: not judged (0, infinity)
  double mean_high = 1.35;
  double activation = 1.2;  // mean |h| averaged over a kind of layer; short form: infinity
};

struct JudgedLayer {
  std::string layer;
  Role role = Role::kHidden;
  double update_ratio = 1;  // narrow / wide
  double activation_ratio = 1;
  std::string not_judged_because = {};
  bool has_steady_activation = true;
  bool passed = true;

  [[nodiscard]] bool judged() const { return not_judged_because.empty(); }
};

/// What lies outside its limits. A value without limits (a loss) has low = high.
struct Miss {
  std::string what;  // a layer, "geometric mean over hidden layers",
                     // "mean activation of ROLE layers `h.*.fc.weight`", "step-1 loss"
  double value = 1;  // narrow / wide
  double low = 1;
  double high = 1;
  bool operator==(const Miss&) const = default;
};

struct CoordinateVerdict {
  bool passed = true;
  double hidden_mean = 1;  // geometric mean of the judged hidden layers' update ratios
  bool losses_compared = true;
  bool losses_equal = true;  // step-1 losses bit-equal
  std::vector<JudgedLayer> layers = {};
  std::vector<Miss> misses = {};  // layers first
  Band band = {};
  CoordinatePlan plan = {};
};

/// Whether training starts from outputs of zero, so that the step-1 loss is the same at every
/// width. A head tied to an embedding starts as the embedding does.
[[nodiscard]] bool starts_at_zero(const Surrogate& surrogate);

/// The losses are empty where they need not be equal.
[[nodiscard]] CoordinateVerdict judge_coordinates(const std::vector<LayerPair>& layers,
                                                  const std::vector<double>& wide_losses,
                                                  const std::vector<double>& narrow_losses,
                                                  const Band& band);

/// The layer's name with each number replaced by a star: layers of one kind have the same.
[[nodiscard]] std::string kind_of_layer(const std::string& layer);

}  // namespace hydro::shrink
