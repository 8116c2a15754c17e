// hydro/shrink/scale_sites.h — where a graph holds the scale of an attention's logits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hydro/ir/graph.h"
#include "hydro/shrink/analysis.h"

namespace hydro::shrink {

/// One constant that the logits are multiplied with or divided by.
struct ScaleSite {
  enum class Form : std::uint8_t { kFactor, kDivisor };

  ir::NodeId node = ir::kNoNode;
  std::string argument;
  double value = 1;
  Form form = Form::kFactor;
  bool after_sum = false;  // behind an addition: it multiplies a mask or bias too
};

/// Nearest to the softmax first. Constants that other parts of the graph read as well are not
/// among them. `users`: by value, as ir::users() gives.
[[nodiscard]] std::vector<ScaleSite> scale_sites(
    const ir::Graph& graph,
    const std::vector<std::vector<ir::NodeId>>& users,
    const Attention& attention);

}  // namespace hydro::shrink
