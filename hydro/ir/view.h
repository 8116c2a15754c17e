// hydro/ir/view.h — which ops give a view of their argument, and how a write into the view is
// carried back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"

namespace hydro::ir {

enum class ViewKind : std::uint8_t {
  kIdentity,   // alias, detach
  kReshape,    // view, unsqueeze, ...: same elements in the same order
  kTranspose,  // its own inverse with the same arguments
  kPermute,
  kSlice,
  kNarrow,
  kSelect,
  kDiagonal,
  kSplit,    // several slices, one an output
  kUnbind,   // several selects
  kOpaque,   // overlaps or unknown: may be read, not written through
  kPerhaps,  // shares memory or not, depending on strides: reshape, contiguous, ...
};

struct ViewRow {
  std::string_view op;
  ViewKind kind;
  std::string_view argument;  // what it is a view of
};

/// Null when the op gives new tensors.
[[nodiscard]] const ViewRow* find_view(std::string_view op);

/// Appends nodes to a list that will become a graph's.
struct Emitter {
  Graph& graph;
  std::vector<Node>& nodes;

  /// Appends `op(arguments)` with one output; source and position are those of `like`.
  ValueId emit(std::string_view op,
               std::vector<NamedArgument> arguments,
               const Node& like,
               std::string_view name,
               Type type);
  /// As emit(), into a value that exists and has no producer.
  void emit_to(ValueId output,
               std::string_view op,
               std::vector<NamedArgument> arguments,
               const Node& like);
};

/// A write of `changed` into output `index` of the view node `view`.
struct ViewWrite {
  const Node& view;
  ViewKind kind;
  std::size_t index;
  ValueId base;     // the viewed tensor before the write
  ValueId changed;  // the view's new value
};

/// The viewed tensor's new value. Errors: H0248.
[[nodiscard]] Result<ValueId> undo_view(Emitter& emitter, const ViewWrite& write);

}  // namespace hydro::ir
