#include "hydro/run/output_check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/run/same_numbers.h"
#include "hydro/worker/settings.h"

namespace hydro::run {
namespace {

constexpr std::array<std::string_view, 2> kSoftmax = {"aten.softmax.int",
                                                      "aten._softmax.default"};

bool is_softmax(const ir::Node& node) {
  return std::ranges::find(kSoftmax, node.op) != kSoftmax.end();
}

}  // namespace

Result<void> check_output(const ir::Graph& graph, worker::Task task) {
  if (task == worker::Task::kRegression) {
    return {};
  }
  for (const ir::Output& output : graph.outputs) {
    if (output.kind != ir::OutputKind::kUser) {
      continue;
    }
    const ir::NodeId maker = graph.value(origin_of(graph, output.value)).producer;
    if (maker != ir::kNoNode && is_softmax(graph.node(maker))) {
      const ir::Source& source = graph.node(maker).source;
      return make_error("H0255", "the model returns probabilities: it ends in a softmax")
          .at(source.place.empty() ? source.module : source.place)
          .because(
              "the loss takes scores and normalises them itself: a second softmax trains "
              "slowly and badly");
    }
  }
  return {};
}

Result<void> check_metric(const ir::Graph& graph, const std::string& metric) {
  constexpr std::size_t kClassAxis = 1;
  if (metric != "val_top5") {
    return {};
  }
  for (const ir::Output& output : graph.outputs) {
    if (output.kind != ir::OutputKind::kUser) {
      continue;
    }
    const auto& shape = graph.value(output.value).tensor().shape;
    if (shape.size() > kClassAxis && shape[kClassAxis].size <= worker::kTopGuesses) {
      return make_error("H0122", "metric `" + metric + "` is never reported")
          .because("the model tells " + std::to_string(shape[kClassAxis].size) +
                   " classes apart, so that one of " + std::to_string(worker::kTopGuesses) +
                   " guesses is always right")
          .fix("use val_accuracy or val_loss");
    }
  }
  return {};
}

}  // namespace hydro::run
