// Rewrites a graph whose ops write into tensors into one in which every op gives new values.
//
// A *slot* stands for a tensor of the original program. It is a root, which owns memory, or a
// view of another slot by one node. All slots on one memory form a *storage*, which counts
// writes. A slot knows the value that it held at some count; reading one that is behind the
// count builds its view again from its base (which reads likewise). A write gives the slot its
// new value, and from there each base up to the root its own, by undoing one view after the
// other. Every later use reads slots, so it sees the new values. Buffers whose root changed
// become outputs.
//
// Some ops share memory or not, as strides decide (reshape, contiguous). Their result is a
// storage of its own that is *linked* to the first: a write into one makes the other
// unreadable, since nobody can say what it would hold.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/in_place.h"
#include "hydro/ir/passes.h"
#include "hydro/ir/rewire.h"
#include "hydro/ir/view.h"

namespace hydro::ir {

namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Slot {
  std::size_t base = kNone;  // the slot that it is a view of
  std::size_t view = kNone;  // index into views_
  std::size_t output = 0;    // which output of the view node
  std::size_t storage = 0;
  ValueId held{};            // its value ...
  std::int64_t held_at = 0;  // ... at this count of writes
};

struct Storage {
  std::int64_t writes = 0;
  std::string read_only;   // what it is when it must not change: "parameter `fc.weight`"
  std::string unreadable;  // the write that made it so
  std::vector<std::size_t> linked;  // storages that may be the same memory
};

struct View {
  Node node;  // with the original operands
  ViewKind kind = ViewKind::kOpaque;
  std::vector<std::size_t> slots;  // of its outputs
};

class Functionalizer {
 public:
  Functionalizer(Graph& graph, const PassContext& context)
      : graph_(graph), context_(context), emitter_{.graph = graph, .nodes = nodes_} {}

  Result<void> run() {
    slot_of_.assign(graph_.values().size(), kNone);
    renamed_ = identity_renaming(graph_);
    trained_ = reached_by_parameters(graph_);
    for (const Input& input : graph_.inputs) {
      add_root(input.value, read_only_name(input));
    }
    const std::vector<Node> originals(graph_.nodes().begin(), graph_.nodes().end());
    for (const Node& original : originals) {
      HYDRO_TRY_VOID(rewrite(original));
    }
    HYDRO_TRY_VOID(finish());
    graph_.set_nodes(std::move(nodes_));
    return {};
  }

 private:
  static std::string read_only_name(const Input& input) {
    if (input.kind == InputKind::kParameter) {
      return "parameter `" + input.name + "`";
    }
    return input.kind == InputKind::kConstant ? "constant `" + input.name + "`" : "";
  }

  std::size_t add_root(ValueId value, std::string read_only = {}) {
    storages_.emplace_back().read_only = std::move(read_only);
    slots_.emplace_back().storage = storages_.size() - 1;
    slots_.back().held = value;
    slot_of_.at(static_cast<std::size_t>(value)) = slots_.size() - 1;
    return slots_.size() - 1;
  }

  std::size_t slot(ValueId value) const { return slot_of_.at(static_cast<std::size_t>(value)); }

  // ---- reading ----

  Result<ValueId> read(std::size_t index, const Node& reader) {
    const Storage& storage = storages_[slots_[index].storage];
    if (!storage.unreadable.empty()) {
      return make_error("H0248", "a tensor is read that may have been changed through another")
          .at(reader.describe())
          .because("whether " + storage.unreadable +
                   " changed it depends on how it lies in memory");
    }
    if (slots_[index].base != kNone && slots_[index].held_at != storage.writes) {
      HYDRO_TRY_VOID(view_again(slots_[index].view, reader));
    }
    return slots_[index].held;
  }

  Result<void> view_again(std::size_t view_index, const Node& reader) {
    Node node = views_[view_index].node;
    const std::vector<std::size_t> slots = views_[view_index].slots;
    HYDRO_TRY_VOID(rename(node, reader));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const Value before = graph_.value(node.outputs[i]);
      node.outputs[i] = graph_.add_value(before.name + "_again", before.type);
      slots_[slots[i]].held = node.outputs[i];
      slots_[slots[i]].held_at = storages_[slots_[slots[i]].storage].writes;
    }
    nodes_.push_back(std::move(node));
    return {};
  }

  // Operands become the values that their slots hold.
  Result<void> rename(Node& node, const Node& reader) {
    for (const ValueId operand : operands(node)) {
      HYDRO_TRY(renamed_.at(static_cast<std::size_t>(operand)), read(slot(operand), reader));
    }
    rename_operands(node, renamed_);
    return {};
  }

  // ---- writing ----

  Result<void> write(std::size_t index, ValueId value, const Node& writer) {
    const std::size_t storage = slots_[index].storage;
    if (!storages_[storage].read_only.empty()) {
      return make_error("H0249", "forward writes into " + storages_[storage].read_only)
          .at(writer.describe());
    }
    std::vector<std::pair<std::size_t, ValueId>> changed = {{index, value}};
    while (slots_[index].base != kNone) {
      const Slot from = slots_[index];
      HYDRO_TRY(const ValueId base, read(from.base, writer));
      const View& view = views_[from.view];
      HYDRO_TRY(value,
                undo_view(emitter_,
                          {.view = view.node,
                           .kind = view.kind,
                           .index = from.output,
                           .base = base,
                           .changed = value}));
      index = from.base;
      changed.emplace_back(index, value);
    }
    const std::int64_t writes = ++storages_[storage].writes;
    for (const auto& [slot_index, held] : changed) {
      slots_[slot_index].held = held;
      slots_[slot_index].held_at = writes;
    }
    make_linked_unreadable(storage, writer);
    return {};
  }

  void make_linked_unreadable(std::size_t storage, const Node& writer) {
    std::vector<std::size_t> open = storages_[storage].linked;
    while (!open.empty()) {
      Storage& other = storages_[open.back()];
      open.pop_back();
      if (other.unreadable.empty() && &other != &storages_[storage]) {
        other.unreadable = writer.describe();
        open.insert(open.end(), other.linked.begin(), other.linked.end());
      }
    }
  }

  // ---- nodes ----

  Result<void> rewrite(const Node& original) {
    if (mutates(original.op)) {
      return rewrite_in_place(original);
    }
    Node node = original;
    HYDRO_TRY_VOID(rename(node, original));
    nodes_.push_back(std::move(node));
    add_results(original);
    if (original.op == "hydro.batch_norm") {
      HYDRO_TRY_VOID(
          write(slot(original.value("running_mean")), original.outputs.at(1), original));
      HYDRO_TRY_VOID(
          write(slot(original.value("running_var")), original.outputs.at(2), original));
    }
    return {};
  }

  Result<void> rewrite_in_place(const Node& original) {
    Node node = original;
    HYDRO_TRY_VOID(rename(node, original));
    HYDRO_TRY(const ValueId value, emit_out_of_place(emitter_, node));
    const std::size_t target = slot(std::get<ValueId>(original.arguments.front().value));
    HYDRO_TRY_VOID(write(target, value, original));
    for (const ValueId output : original.outputs) {
      slot_of_.at(static_cast<std::size_t>(output)) = target;
    }
    return {};
  }

  struct Viewed {
    ViewKind kind;
    ValueId base;
  };

  // What the node's outputs are views of, when they are.
  std::optional<Viewed> viewed(const Node& original) const {
    const ViewRow* row = find_view(original.op);
    const auto schema = context_.schemas.find(original.op);
    const bool unknown_view =
        row == nullptr && schema != context_.schemas.end() && schema->second.is_view;
    if (row == nullptr && !unknown_view) {
      return std::nullopt;
    }
    const Argument* argument = original.find_argument(row != nullptr ? row->argument : "self");
    const auto* base = argument == nullptr ? nullptr : std::get_if<ValueId>(argument);
    if (base == nullptr) {
      return std::nullopt;
    }
    // A write through detach changes the numbers but not the gradients: no op says that.
    const bool cuts_gradients =
        original.op == "aten.detach.default" && trained_.at(static_cast<std::size_t>(*base));
    return Viewed{.kind = unknown_view || cuts_gradients ? ViewKind::kOpaque : row->kind,
                  .base = *base};
  }

  // Dropout that drops and casts that cast give new tensors.
  bool surely_new(const Node& node, ValueId base) const {
    const Argument* train = node.find_argument("train");
    if (train != nullptr && *train == Argument(true) && node.find_argument("p") != nullptr &&
        *node.find_argument("p") != Argument(0.0)) {
      return true;
    }
    return node.op.starts_with("aten.to.") && node.outputs.size() == 1 &&
           graph_.value(base).is_tensor() &&
           graph_.value(node.outputs.front()).tensor().dtype !=
               graph_.value(base).tensor().dtype;
  }

  void add_results(const Node& original) {
    const std::optional<Viewed> view = viewed(original);
    if (!view || (view->kind == ViewKind::kPerhaps && surely_new(original, view->base))) {
      for (const ValueId output : original.outputs) {
        add_root(output);
      }
      return;
    }
    if (view->kind == ViewKind::kPerhaps) {
      add_linked(original, slots_[slot(view->base)].storage);
      return;
    }
    add_view(original, *view);
  }

  void add_linked(const Node& original, std::size_t storage) {
    for (const ValueId output : original.outputs) {
      const std::size_t linked = slots_[add_root(output)].storage;
      storages_[linked].linked.push_back(storage);
      storages_[storage].linked.push_back(linked);
    }
  }

  void add_view(const Node& original, const Viewed& made) {
    View view{.node = original, .kind = made.kind, .slots = {}};
    const std::size_t base = slot(made.base);
    for (std::size_t i = 0; i < original.outputs.size(); ++i) {
      slots_.push_back({.base = base,
                        .view = views_.size(),
                        .output = i,
                        .storage = slots_[base].storage,
                        .held = original.outputs[i],
                        .held_at = storages_[slots_[base].storage].writes});
      view.slots.push_back(slots_.size() - 1);
      slot_of_.at(static_cast<std::size_t>(original.outputs[i])) = slots_.size() - 1;
    }
    views_.push_back(std::move(view));
  }

  // ---- the graph's outputs ----

  Result<void> finish() {
    for (Output& output : graph_.outputs) {
      const Node reader{
          .op = "output `" + output.name + "`", .arguments = {}, .outputs = {}, .source = {}};
      HYDRO_TRY(output.value, read(slot(output.value), reader));
    }
    for (const Input& input : graph_.inputs) {
      if (input.kind != InputKind::kBuffer) {
        continue;
      }
      const Node reader{
          .op = "buffer `" + input.name + "`", .arguments = {}, .outputs = {}, .source = {}};
      HYDRO_TRY(const ValueId last, read(slot(input.value), reader));
      if (last != input.value) {
        graph_.outputs.push_back(
            {.kind = OutputKind::kBuffer, .name = input.name, .value = last});
      }
    }
    return {};
  }

  Graph& graph_;
  const PassContext& context_;
  std::vector<Node> nodes_;
  Emitter emitter_;
  std::vector<Slot> slots_;
  std::vector<Storage> storages_;
  std::vector<View> views_;
  std::vector<std::size_t> slot_of_;  // by original value
  std::vector<bool> trained_;         // by original value: a gradient may flow through it
  std::vector<ValueId>
      renamed_;  // by original value; right for the operands of the node at hand
};

}  // namespace

Result<void> functionalize(Graph& graph, const PassContext& context) {
  return Functionalizer(graph, context).run();
}

}  // namespace hydro::ir
