// Rules of element-wise ops and of ops that only rearrange dimensions.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

Result<void> same_rule(Walk& walk, const ir::Node& node) {
  const Dimensions x = walk.dims(first_tensor(walk.graph(), node));
  walk.set_outputs(node, x);
  return {};
}

Result<void> broadcast_rule(Walk& walk, const ir::Node& node) {
  Dimensions out(walk.shape(node.outputs.at(0)).size());
  for (const ir::ValueId operand : ir::operands(node)) {
    if (!walk.graph().value(operand).is_tensor()) {
      continue;
    }
    const Dimensions x = walk.dims(operand);
    if (x.size() > out.size()) {
      return contradiction(node, "an operand has more dimensions than the result");
    }
    const std::size_t shift = out.size() - x.size();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (out[shift + i].empty()) {
        out[shift + i] = x[i];
      } else if (!x[i].empty()) {
        walk.unify(node, out[shift + i], x[i]);
      }
    }
  }
  walk.set_outputs(node, out);
  return {};
}

Result<void> pair_loss_rule(Walk& walk, const ir::Node& node) {
  const Dimensions x = walk.dims(node.value("self"));
  const Dimensions target = walk.dims(node.value("target"));
  for (std::size_t i = 0; i < x.size() && target.size() == x.size(); ++i) {
    walk.unify(node, x[i], target[i]);
  }
  walk.set_outputs(node, walk.shape(node.outputs.at(0)).empty() ? Dimensions{} : x);
  return {};
}

Result<void> reshape_rule(Walk& walk, const ir::Node& node) {
  const Dimensions in = walk.dims(first_tensor(walk.graph(), node));
  const Dimensions out = walk.fresh(node.outputs.at(0));
  // Factors that do not line up are pinned, and `check` shows this reason beside the class.
  static_cast<void>(walk.atoms().unify_flat(in, out, "opaque reshape at " + node.describe()));
  unify_given_sizes(walk, node, out);
  walk.set_outputs(node, out);
  return {};
}

Result<void> expand_rule(Walk& walk, const ir::Node& node) {
  const Dimensions in = walk.dims(first_tensor(walk.graph(), node));
  Dimensions out = walk.fresh(node.outputs.at(0));
  if (in.size() > out.size()) {
    return contradiction(node, "expands to fewer dimensions");
  }
  for (std::size_t i = 0; i < in.size(); ++i) {
    Dimension& made = out[out.size() - in.size() + i];
    if (!in[i].empty()) {
      walk.unify(node, made, in[i]);
      made = in[i];
    }
  }
  unify_given_sizes(walk, node, out);
  walk.set_outputs(node, out);
  return {};
}

Result<void> repeat_rule(Walk& walk, const ir::Node& node) {
  const Dimensions in = walk.dims(node.value("self"));
  const std::vector<std::int64_t> shape = walk.shape(node.outputs.at(0));
  if (in.size() > shape.size()) {
    return contradiction(node, "repeats to fewer dimensions");
  }
  Dimensions out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool is_new = i + in.size() < shape.size();
    const Dimension own = is_new ? Dimension{} : in[i + in.size() - shape.size()];
    const std::int64_t times = shape[i] / walk.atoms().size(own);
    Dimension made = own.empty() ? walk.atoms().add_free(times)
                                 : walk.atoms().add_pinned(times, "number of equal parts");
    made.insert(made.end(), own.begin(), own.end());
    out.push_back(std::move(made));
  }
  walk.set_outputs(node, out);
  return {};
}

Result<void> interleave_rule(Walk& walk, const ir::Node& node) {
  const ir::Argument& dim = node.argument("dim");
  const auto* place = std::get_if<std::int64_t>(&dim);
  if (place == nullptr) {
    walk.pin_all(node, "no width rule");
    return {};
  }
  Dimensions out = walk.dims(node.value("self"));
  Dimension& own = out[Walk::index(*place, out.size())];
  const std::vector<std::int64_t> shape = walk.shape(node.outputs.at(0));
  const std::int64_t times = shape.at(Walk::index(*place, out.size())) / walk.atoms().size(own);
  const Dimension copies = walk.atoms().add_pinned(times, "number of equal parts");
  own.insert(own.end(), copies.begin(), copies.end());
  walk.set_outputs(node, out);
  return {};
}

Result<void> prelu_rule(Walk& walk, const ir::Node& node) {
  const Dimensions x = walk.dims(node.value("self"));
  const Dimensions w = walk.dims(node.value("weight"));
  if (!w.empty() && !w.front().empty() && x.size() > 1) {
    walk.unify(node, w.front(), x[1]);
  }
  walk.set_outputs(node, x);
  return {};
}

Result<void> permute_rule(Walk& walk, const ir::Node& node) {
  const Dimensions in = walk.dims(node.value("self"));
  Dimensions out;
  for (const std::int64_t dim : node.integers("dims")) {
    out.push_back(in.at(Walk::index(dim, in.size())));
  }
  walk.set_outputs(node, out);
  return {};
}

Result<void> transpose_rule(Walk& walk, const ir::Node& node) {
  Dimensions out = walk.dims(node.value("self"));
  const bool is_swap = node.find_argument("axis0") != nullptr;
  const bool plain = !is_swap && node.find_argument("dim0") == nullptr;  // aten.t
  if (out.size() < 2) {
    walk.set_outputs(node, out);
    return {};
  }
  const std::size_t first =
      plain ? 0 : Walk::index(node.integer(is_swap ? "axis0" : "dim0"), out.size());
  const std::size_t second =
      plain ? 1 : Walk::index(node.integer(is_swap ? "axis1" : "dim1"), out.size());
  std::swap(out.at(first), out.at(second));
  walk.set_outputs(node, out);
  return {};
}

Result<void> reverse_rule(Walk& walk, const ir::Node& node) {
  Dimensions out = walk.dims(node.value("self"));
  std::ranges::reverse(out);
  walk.set_outputs(node, out);
  return {};
}

Result<void> last_two_rule(Walk& walk, const ir::Node& node) {
  HYDRO_TRY_VOID(need_rank(walk, node, node.value("self"), 2));
  Dimensions out = walk.dims(node.value("self"));
  std::swap(out[out.size() - 1], out[out.size() - 2]);
  walk.set_outputs(node, out);
  return {};
}

Result<void> move_rule(Walk& walk, const ir::Node& node) {
  const Dimensions in = walk.dims(node.value("self"));
  const auto places = [&](const char* name) {
    const auto* one = std::get_if<std::int64_t>(&node.argument(name));
    return one != nullptr ? std::vector<std::int64_t>{*one} : node.integers(name);
  };
  const std::vector<std::int64_t> from = places("source");
  const std::vector<std::int64_t> to = places("destination");
  std::vector<std::optional<std::size_t>> source(in.size());
  std::vector<bool> moved(in.size(), false);
  for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
    source.at(Walk::index(to[i], in.size())) = Walk::index(from[i], in.size());
    moved.at(Walk::index(from[i], in.size())) = true;
  }
  Dimensions out;
  std::size_t next = 0;
  for (const std::optional<std::size_t>& place : source) {
    while (!place && next < in.size() && moved[next]) {
      ++next;
    }
    out.push_back(in.at(place ? *place : next++));
  }
  walk.set_outputs(node, out);
  return {};
}

Result<void> unsqueeze_rule(Walk& walk, const ir::Node& node) {
  Dimensions out = walk.dims(node.value("self"));
  const std::size_t dim = Walk::index(node.integer("dim"), out.size() + 1);
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(dim), Dimension{});
  walk.set_outputs(node, out);
  return {};
}

Result<void> squeeze_rule(Walk& walk, const ir::Node& node) {
  // Which dimensions of size 1 go shows in the result: the others keep their order.
  const Dimensions in = walk.dims(node.value("self"));
  const std::vector<std::int64_t> shape = walk.shape(node.outputs.at(0));
  Dimensions out;
  for (const Dimension& dimension : in) {
    const std::size_t kept = out.size();
    const bool stays = kept < shape.size() && shape[kept] == walk.atoms().size(dimension);
    if (!dimension.empty() || stays) {
      out.push_back(dimension);
    }
  }
  walk.set_outputs(node, out);
  return {};
}

Result<void> roll_rule(Walk& walk, const ir::Node& node) {
  const Dimensions x = walk.dims(node.value("self"));
  const std::vector<std::int64_t> dims = node.integers("dims");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool moves = dims.empty() || std::ranges::any_of(dims, [&](std::int64_t dim) {
                         return Walk::index(dim, x.size()) == i;
                       });
    if (moves) {
      walk.pin(node, x[i], "order matters along it");
    }
  }
  walk.set_outputs(node, x);
  return {};
}

Result<void> pixel_shuffle_rule(Walk& walk, const ir::Node& node) {
  const Dimensions x = walk.dims(node.value("self"));
  HYDRO_TRY_VOID(need_rank(walk, node, node.value("self"), 3));
  Dimensions out = walk.fresh(node.outputs.at(0));
  const std::size_t channel = x.size() - 3;
  const bool grows = node.find_argument("upscale_factor") != nullptr;
  const std::int64_t side = node.integer(grows ? "upscale_factor" : "downscale_factor");
  const Dimension& few = grows ? out[channel] : x[channel];
  Dimension many = few;
  const Dimension square = walk.atoms().add_pinned(side * side, "pixels of a channel");
  many.insert(many.end(), square.begin(), square.end());
  walk.unify(node, grows ? x[channel] : out[channel], many);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i < channel) {
      out[i] = x[i];
    } else if (i > channel) {
      walk.atoms().pin(x[i], "spatial size");
      walk.atoms().pin(out[i], "spatial size");
    }
  }
  walk.set_outputs(node, out);
  return {};
}

Result<void> size_rule(Walk& walk, const ir::Node& node) {
  const Dimensions x = walk.dims(node.value("self"));
  walk.set_integer(node.outputs.at(0), x.at(Walk::index(node.integer("dim"), x.size())));
  return {};
}

}  // namespace hydro::shrink
