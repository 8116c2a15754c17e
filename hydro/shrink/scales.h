// hydro/shrink/scales.h — attention logits, and other sums over a width, at a narrower width.
// Source: DESIGN "Scales in the graph".
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/multipliers.h"
#include "hydro/shrink/sizes.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

/// A number of the graph that takes another value in the surrogate.
struct NewConstant {
  ir::NodeId node = ir::kNoNode;
  std::string argument;
  double value = 1;
};

struct ScalePlan {
  std::vector<NewConstant> constants;
  Multipliers multipliers;
  std::set<ir::NodeId> known;        // nodes whose constant is an attention's scale
  std::vector<std::string> notices;  // sums outside attention that are multiplied
};

/// For attention shrunk by r: the scale is r times the target's own (its constant, else a
/// product is inserted). Under `standard` a constant that is a power of the size of a head is
/// that power of the small one.
[[nodiscard]] ScalePlan plan_scales(const ir::Model& model,
                                    Side side,
                                    const Analysis& analysis,
                                    const Sizes& sizes,
                                    Parametrization parametrization);

void set_constants(ir::Graph& graph, const std::vector<NewConstant>& constants);

}  // namespace hydro::shrink
