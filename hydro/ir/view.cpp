#include "hydro/ir/view.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"

namespace hydro::ir {

namespace {

using enum ViewKind;

constexpr std::array kViews = {
    ViewRow{.op = "aten.alias.default", .kind = kIdentity, .argument = "self"},
    ViewRow{.op = "aten.detach.default", .kind = kIdentity, .argument = "self"},
    ViewRow{.op = "aten.view.default", .kind = kReshape, .argument = "self"},
    ViewRow{.op = "aten._unsafe_view.default", .kind = kReshape, .argument = "self"},
    ViewRow{.op = "aten.unsqueeze.default", .kind = kReshape, .argument = "self"},
    ViewRow{.op = "aten.squeeze.default", .kind = kReshape, .argument = "self"},
    ViewRow{.op = "aten.squeeze.dim", .kind = kReshape, .argument = "self"},
    ViewRow{.op = "aten.squeeze.dims", .kind = kReshape, .argument = "self"},
    ViewRow{.op = "aten.unflatten.int", .kind = kReshape, .argument = "self"},
    ViewRow{.op = "aten.transpose.int", .kind = kTranspose, .argument = "self"},
    ViewRow{.op = "aten.t.default", .kind = kTranspose, .argument = "self"},
    ViewRow{.op = "aten.permute.default", .kind = kPermute, .argument = "self"},
    ViewRow{.op = "aten.slice.Tensor", .kind = kSlice, .argument = "self"},
    ViewRow{.op = "aten.narrow.default", .kind = kNarrow, .argument = "self"},
    ViewRow{.op = "aten.select.int", .kind = kSelect, .argument = "self"},
    ViewRow{.op = "aten.diagonal.default", .kind = kDiagonal, .argument = "self"},
    ViewRow{.op = "aten.split.Tensor", .kind = kSplit, .argument = "self"},
    ViewRow{.op = "aten.split_with_sizes.default", .kind = kSplit, .argument = "self"},
    ViewRow{.op = "aten.chunk.default", .kind = kSplit, .argument = "self"},
    ViewRow{.op = "aten.unbind.int", .kind = kUnbind, .argument = "self"},
    ViewRow{.op = "aten.expand.default", .kind = kOpaque, .argument = "self"},
    ViewRow{.op = "aten.expand_as.default", .kind = kOpaque, .argument = "self"},
    ViewRow{.op = "aten.broadcast_to.default", .kind = kOpaque, .argument = "self"},
    ViewRow{.op = "aten.as_strided.default", .kind = kOpaque, .argument = "self"},
    ViewRow{.op = "aten.unfold.default", .kind = kOpaque, .argument = "self"},
    ViewRow{.op = "aten.reshape.default", .kind = kPerhaps, .argument = "self"},
    ViewRow{.op = "aten.reshape_as.default", .kind = kPerhaps, .argument = "self"},
    ViewRow{.op = "aten.flatten.using_ints", .kind = kPerhaps, .argument = "self"},
    ViewRow{.op = "aten.ravel.default", .kind = kPerhaps, .argument = "self"},
    ViewRow{.op = "aten.contiguous.default", .kind = kPerhaps, .argument = "self"},
    ViewRow{.op = "aten.to.dtype", .kind = kPerhaps, .argument = "self"},
    ViewRow{.op = "aten.to.dtype_layout", .kind = kPerhaps, .argument = "self"},
    ViewRow{.op = "aten.to.device", .kind = kPerhaps, .argument = "self"},
    ViewRow{.op = "aten.type_as.default", .kind = kPerhaps, .argument = "self"},
    ViewRow{.op = "aten.dropout.default", .kind = kPerhaps, .argument = "input"},
    ViewRow{.op = "aten.feature_dropout.default", .kind = kPerhaps, .argument = "input"},
    ViewRow{.op = "aten.alpha_dropout.default", .kind = kPerhaps, .argument = "input"},
};

Error cannot_undo(const Node& view, const std::string& why) {
  return make_error("H0248", "a write into a view made by " + view.op + " cannot be undone")
      .at(view.describe())
      .because(why);
}

NamedArgument copied(const Node& view, std::string_view name) {
  return {.name = std::string(name), .value = view.argument(name)};
}

NamedArgument given(std::string_view name, Argument value) {
  return {.name = std::string(name), .value = std::move(value)};
}

ValueId emit_like_base(Emitter& emitter,
                       const ViewWrite& write,
                       std::string_view op,
                       std::vector<NamedArgument> arguments) {
  const Value base = emitter.graph.value(write.base);
  return emitter.emit(op, std::move(arguments), write.view, base.name + "_next", base.type);
}

// The base's shape for a view op: a dynamic dimension is -1, so there can be only one.
Result<ValueId> undo_reshape(Emitter& emitter, const ViewWrite& write) {
  std::vector<IntItem> size;
  std::int64_t dynamic = 0;
  for (const Dim& dim : emitter.graph.value(write.base).tensor().shape) {
    size.emplace_back(dim.dynamic ? -1 : dim.size);
    dynamic += dim.dynamic ? 1 : 0;
  }
  if (dynamic > 1) {
    return cannot_undo(write.view, "two dimensions of the viewed tensor change with the batch");
  }
  return emit_like_base(
      emitter, write, "aten.view.default", {given("self", write.changed), given("size", size)});
}

Result<ValueId> undo_permute(Emitter& emitter, const ViewWrite& write) {
  const std::vector<std::int64_t> dims = write.view.integers("dims");
  std::vector<IntItem> inverse(dims.size(), IntItem(std::int64_t{0}));
  const auto rank = static_cast<std::int64_t>(dims.size());
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t dim = dims[static_cast<std::size_t>(i)];
    const std::int64_t place = dim < 0 ? dim + rank : dim;
    if (place < 0 || place >= rank) {
      return cannot_undo(write.view, "its dimensions are out of range");
    }
    inverse[static_cast<std::size_t>(place)] = i;
  }
  return emit_like_base(emitter,
                        write,
                        "aten.permute.default",
                        {given("self", write.changed), given("dims", inverse)});
}

ValueId scatter_slice(Emitter& emitter,
                      const ViewWrite& write,
                      std::vector<NamedArgument> range) {
  std::vector<NamedArgument> arguments = {given("self", write.base),
                                          given("src", write.changed)};
  std::ranges::move(range, std::back_inserter(arguments));
  return emit_like_base(emitter, write, "aten.slice_scatter.default", std::move(arguments));
}

Result<ValueId> undo_narrow(Emitter& emitter, const ViewWrite& write) {
  const auto* start = std::get_if<std::int64_t>(&write.view.argument("start"));
  const auto* length = std::get_if<std::int64_t>(&write.view.argument("length"));
  if (start == nullptr || length == nullptr || *start < 0) {
    return cannot_undo(write.view, "its range is not constant");
  }
  return scatter_slice(emitter,
                       write,
                       {copied(write.view, "dim"),
                        given("start", *start),
                        given("end", *start + *length),
                        given("step", std::int64_t{1})});
}

// Pieces lie one after the other along `dim`.
Result<ValueId> undo_split(Emitter& emitter, const ViewWrite& write) {
  const std::int64_t dim = write.view.integer("dim");
  const auto rank =
      static_cast<std::int64_t>(emitter.graph.value(write.base).tensor().shape.size());
  const std::int64_t place = dim < 0 ? dim + rank : dim;
  if (place < 0 || place >= rank) {
    return cannot_undo(write.view, "its dimension is out of range");
  }
  std::int64_t start = 0;
  std::int64_t end = 0;
  for (std::size_t i = 0; i <= write.index; ++i) {
    const auto& shape = emitter.graph.value(write.view.outputs.at(i)).tensor().shape;
    if (shape.size() != static_cast<std::size_t>(rank) ||
        shape[static_cast<std::size_t>(place)].dynamic) {
      return cannot_undo(write.view, "the size of its pieces changes with the batch");
    }
    start = end;
    end += shape[static_cast<std::size_t>(place)].size;
  }
  return scatter_slice(emitter,
                       write,
                       {given("dim", place),
                        given("start", start),
                        given("end", end),
                        given("step", std::int64_t{1})});
}

Result<ValueId> undo_select(Emitter& emitter, const ViewWrite& write, Argument index) {
  return emit_like_base(emitter,
                        write,
                        "aten.select_scatter.default",
                        {given("self", write.base),
                         given("src", write.changed),
                         copied(write.view, "dim"),
                         given("index", std::move(index))});
}

Result<ValueId> undo_diagonal(Emitter& emitter, const ViewWrite& write) {
  return emit_like_base(emitter,
                        write,
                        "aten.diagonal_scatter.default",
                        {given("self", write.base),
                         given("src", write.changed),
                         copied(write.view, "offset"),
                         copied(write.view, "dim1"),
                         copied(write.view, "dim2")});
}

Result<ValueId> undo_transpose(Emitter& emitter, const ViewWrite& write) {
  std::vector<NamedArgument> arguments = write.view.arguments;
  for (NamedArgument& argument : arguments) {
    if (argument.name == "self") {
      argument.value = write.changed;
    }
  }
  return emit_like_base(emitter, write, write.view.op, std::move(arguments));
}

}  // namespace

const ViewRow* find_view(std::string_view op) {
  const auto* found = std::ranges::find(kViews, op, &ViewRow::op);
  return found == kViews.end() ? nullptr : found;
}

ValueId Emitter::emit(std::string_view op,
                      std::vector<NamedArgument> arguments,
                      const Node& like,
                      std::string_view name,
                      Type type) {
  const ValueId output = graph.add_value(std::string(name), std::move(type));
  emit_to(output, op, std::move(arguments), like);
  return output;
}

void Emitter::emit_to(ValueId output,
                      std::string_view op,
                      std::vector<NamedArgument> arguments,
                      const Node& like) {
  nodes.push_back({.op = std::string(op),
                   .arguments = std::move(arguments),
                   .outputs = {output},
                   .source = like.source,
                   .position = like.position});
}

Result<ValueId> undo_view(Emitter& emitter, const ViewWrite& write) {
  const Node& view = write.view;
  switch (write.kind) {
    case kIdentity:
      return write.changed;
    case kReshape:
      return undo_reshape(emitter, write);
    case kTranspose:
      return undo_transpose(emitter, write);
    case kPermute:
      return undo_permute(emitter, write);
    case kSlice:
      return scatter_slice(emitter,
                           write,
                           {copied(view, "dim"),
                            copied(view, "start"),
                            copied(view, "end"),
                            copied(view, "step")});
    case kNarrow:
      return undo_narrow(emitter, write);
    case kSelect:
      return undo_select(emitter, write, view.argument("index"));
    case kDiagonal:
      return undo_diagonal(emitter, write);
    case kSplit:
      return undo_split(emitter, write);
    case kUnbind:
      return undo_select(emitter, write, static_cast<std::int64_t>(write.index));
    case kOpaque:
    case kPerhaps:
      break;
  }
  return cannot_undo(view, "its elements overlap, or how they lie in memory is not known");
}

}  // namespace hydro::ir
