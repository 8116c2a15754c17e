// hydro/shrink/coordinates.h — judges a coordinate check: did every layer learn at the same
// speed at both widths? `train` measures, this room judges. Source: DESIGN "Coordinate check".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

/// One weight at the wide (s) and the narrow (4s) width.
struct LayerPair {
  std::string layer;
  Role role = Role::kHidden;
  std::int64_t narrow_width = 0;  // the narrowest class that the weight touches, at 4s
  double wide_update = 0;
  double narrow_update = 0;
  double wide_activation = 0;
  double narrow_activation = 0;
};

struct Band {
  double layer_low = 0.5;   // short form: 0.33
  double layer_high = 2.0;  // short form: 3
  double mean_low =
      0.75;  // geometric mean over hidden layers; short form: not judged (0, infinity)
  double mean_high = 1.35;
  double activation = 1.2;  // mean |h| averaged over the layers of a role; short form: infinity
  std::int64_t narrowest = 16;  // layers narrower are printed, not judged
};

struct JudgedLayer {
  std::string layer;
  Role role = Role::kHidden;
  double update_ratio = 1;  // narrow / wide
  double activation_ratio = 1;
  bool judged = true;
  bool passed = true;
};

struct CoordinateVerdict {
  bool passed = true;
  double hidden_mean = 1;  // geometric mean of the judged hidden layers' update ratios
  bool losses_compared = true;
  bool losses_equal = true;  // step-1 losses bit-equal
  std::vector<JudgedLayer> layers;
  std::vector<std::string> failed;  // layers, "geometric mean over hidden layers",
                                    // "mean activation of ROLE layers", "step-1 loss"
};

/// Whether training starts from outputs of zero, so that the step-1 loss is the same at every
/// width. A head tied to an embedding starts as the embedding does.
[[nodiscard]] bool starts_at_zero(const Surrogate& surrogate);

/// The losses are empty where they need not be equal.
[[nodiscard]] CoordinateVerdict judge_coordinates(const std::vector<LayerPair>& layers,
                                                  const std::vector<double>& wide_losses,
                                                  const std::vector<double>& narrow_losses,
                                                  const Band& band);

/// The two shrink factors of a check for a study at S: {s, 4s}, where s may be under 1.5 and
/// needs Saving::kAny.
struct CoordinateWidths {
  double wide = 1;
  double narrow = 4;
};

[[nodiscard]] Result<CoordinateWidths> coordinate_widths(const ir::Model& model,
                                                         const Options& options,
                                                         std::int64_t narrowest);

}  // namespace hydro::shrink
