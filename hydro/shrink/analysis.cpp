#include "hydro/shrink/analysis.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/attention.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

/// All elements are one number (as fresh batch-norm statistics are), so that fewer of them mean
/// the same.
bool is_constant(const ir::TensorData& tensor) {
  const auto width = static_cast<std::size_t>(ir::dtype_size(tensor.dtype));
  const std::span<const std::byte> bytes(tensor.bytes);
  for (std::size_t i = width; i + width <= bytes.size(); i += width) {
    if (!std::ranges::equal(bytes.subspan(i, width), bytes.first(width))) {
      return false;
    }
  }
  return true;
}

/// Why a state entry keeps its shape; empty: it follows the widths it meets.
std::string pin_of(const ir::Model& model, const ir::StateEntry& entry) {
  if (model.train.find_input(entry.name) == nullptr &&
      model.eval.find_input(entry.name) == nullptr) {
    return "not used by the selected output";
  }
  if (entry.kind == ir::StateKind::kParameter) {
    return "";
  }
  if (entry.kind == ir::StateKind::kFrozen) {
    return "frozen parameter `" + entry.name + "`";
  }
  const auto data = model.tensors.find(entry.name);
  const bool follows =
      ir::is_floating(entry.dtype) && data != model.tensors.end() && is_constant(data->second);
  return follows ? "" : "buffer `" + entry.name + "` holds data";
}

void label_state(const ir::Model& model, Analysis& analysis) {
  for (const ir::StateEntry& entry : model.state) {
    if (!entry.tie.empty()) {
      continue;
    }
    const std::string pinned = pin_of(model, entry);
    Dimensions& dims = analysis.state[entry.name];
    for (std::size_t i = 0; i < entry.shape.size(); ++i) {
      dims.push_back(
          analysis.atoms.add_state(entry.shape[i], entry.name + "[" + std::to_string(i) + "]"));
      if (entry.kind == ir::StateKind::kParameter) {
        analysis.atoms.mark_parameter(dims.back());
      }
      if (!pinned.empty()) {
        analysis.atoms.pin(dims.back(), pinned);
      }
    }
  }
}

}  // namespace

const ir::Graph& graph_of(const ir::Model& model, Side side) {
  return side == Side::kTrain ? model.train : model.eval;
}

Result<Analysis> analyse(const ir::Model& model) {
  Analysis analysis;
  label_state(model, analysis);
  for (const Side side : {Side::kTrain, Side::kEval}) {
    Walk walk(model, side, analysis);
    HYDRO_TRY_VOID(walk.run());
  }
  find_attentions(model, analysis);
  analysis.atoms.pin_unused_parts("part that the selected output does not use");
  return analysis;
}

}  // namespace hydro::shrink
