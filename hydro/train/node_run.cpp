#include "hydro/train/node_run.h"

#include <cstddef>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/executor.h"
#include "hydro/ops/ops.h"

namespace hydro::train {

void run_again(const ops::Program& program, const ir::Node& node, ops::Frame& frame) {
  HYDRO_CHECK(program.trials == 1, "a node is run again for one trial");
  const ops::RandomStreams no_random;
  const ops::Scene scene{
      .graph = program.graph, .axes = program.axes, .trials = 1, .random = no_random};
  const auto place =
      static_cast<std::size_t>(program.graph.value(node.outputs.front()).producer);
  program.steps.at(place).run(ops::Call(scene, node, frame, /*reuse=*/false));
}

}  // namespace hydro::train
