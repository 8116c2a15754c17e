// hydro/shrink/query.h — which entries of which weights make the queries of attentions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"

namespace hydro::shrink {

struct QueryBlocks {
  std::map<std::string, std::vector<ir::ZeroBlock>, std::less<>> blocks;  // of the target
  std::vector<std::string> not_found;  // attentions whose queries come from no one weight
};

/// Weights and their biases, by state-dict name. Packed projections are followed through their
/// splits.
[[nodiscard]] QueryBlocks query_blocks(const ir::Model& model, const Analysis& analysis);

/// Weights whose products become queries and keys, packed ones too.
[[nodiscard]] std::set<std::string> logit_weights(const ir::Model& model,
                                                  const Analysis& analysis);

}  // namespace hydro::shrink
