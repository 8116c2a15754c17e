// hydro/pt2/exported_graph.h — models/train.json and models/eval.json as raw ir::Graphs:
// nothing simplified yet, in-place ops and all (hydro/ir/passes.h does the rest). Source:
// torch/_export/serde/schema.py, schema version 8.
#pragma once

#include <string>
#include <vector>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/ir/graph.h"

namespace hydro::pt2 {

/// What the manifest says of a graph's ends.
struct GraphEnds {
  std::vector<std::string> inputs;  // names of the user inputs, in order
  std::vector<std::string>
      outputs;  // by index among the flattened outputs; empty: has no name, is not kept
};

/// Requires: `program` outlives nothing of the result
///
/// Errors: H0241 schema version; H0237, H0243 to H0246, H0253; each with the user's line where
/// there is one
[[nodiscard]] Result<ir::Graph> read_exported_graph(const Json& program,
                                                    const std::string& where,
                                                    const GraphEnds& ends);

}  // namespace hydro::pt2
