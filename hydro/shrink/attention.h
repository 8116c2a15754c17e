// hydro/shrink/attention.h — finds attention in a walked graph, fused or written out.
#pragma once

#include <vector>

#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"

namespace hydro::shrink {

/// The two tensors whose product the logits of an attention are, queries first.
[[nodiscard]] std::vector<ir::ValueId> logit_factors(const ir::Node& node);

/// Fills analysis.attentions, takes their logits out of analysis.contractions, and pins what
/// attention says is no width: sequences, and all head sizes where one is pinned.
void find_attentions(const ir::Model& model, Analysis& analysis);

}  // namespace hydro::shrink
