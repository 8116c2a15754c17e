// hydro/ir/graph.h — one exported graph as plain data: values and nodes by index, owned by the
// Graph.
//
//   Graph     owns everything. Nodes stand in execution order; passes rebuild or edit it and
//   re-verify. Value     a tensor, an integer (sym_int) or nothing else; produced by one node
//   or by a graph input. Node      one op: name, arguments by schema name in schema order
//   (defaults filled), outputs. Input     what feeds a value: the user, a parameter, a buffer,
//   a constant. Output    what leaves: the selected user output, or a buffer's next value.
//   After `functionalize` buffers
//             change only through such outputs; no node mutates its arguments.
//
// Thread-safety: a const Graph may be shared. References into a Graph die with the next add_*.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <variant>
#include <vector>

#include "hydro/base/result.h"

namespace hydro::ir {

enum class ValueId : std::int32_t {};
enum class NodeId : std::int32_t {};

inline constexpr NodeId kNoNode{-1};

enum class DType : std::uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64
};

/// "float32"; the names of PyTorch without the prefix.
[[nodiscard]] std::string_view dtype_name(DType dtype);
[[nodiscard]] std::optional<DType> find_dtype(std::string_view name);
/// Bytes of one element.
[[nodiscard]] std::int64_t dtype_size(DType dtype);
[[nodiscard]] bool is_floating(DType dtype);

/// One dimension. A dynamic one changes with the batch; `size` is then its size at the export's
/// example.
struct Dim {
  std::int64_t size = 0;
  bool dynamic = false;
  bool operator==(const Dim&) const = default;
};

struct TensorType {
  DType dtype = DType::kFloat32;
  std::vector<Dim> shape;
  bool operator==(const TensorType&) const = default;
};

/// An integer computed in the graph (a size); `hint` is its value at the export's example.
struct IntType {
  std::int64_t hint = 0;
  bool operator==(const IntType&) const = default;
};

using Type = std::variant<TensorType, IntType>;

struct Value {
  std::string name;  // unique in the graph, without the text form's '%'
  Type type;
  NodeId producer = kNoNode;  // kNoNode: a graph input

  [[nodiscard]] bool is_tensor() const { return std::holds_alternative<TensorType>(type); }

  /// Requires: is_tensor() (BugError)
  [[nodiscard]] const TensorType& tensor() const;
  [[nodiscard]] TensorType& tensor();
};

/// An integer in a list: a constant or an integer value of the graph.
using IntItem = std::variant<std::int64_t, ValueId>;

struct None {
  bool operator==(const None&) const = default;
};

/// A closed set: what an ATen argument can be here. Devices, layouts and generators are dropped
/// on reading.
using Argument = std::variant<None,
                              bool,
                              std::int64_t,
                              double,
                              std::string,
                              DType,
                              ValueId,
                              std::vector<IntItem>,
                              std::vector<double>,
                              std::vector<bool>,
                              std::vector<ValueId>,
                              std::vector<std::optional<ValueId>>>;

struct NamedArgument {
  std::string name;
  Argument value;
  bool operator==(const NamedArgument&) const = default;
};

/// Where the user's code asked for a node.
struct Source {
  std::string place;   // "my_model.py:42", the innermost frame in the user's own file; empty
                       // when unknown
  std::string module;  // "layer1.0.conv1", the owning submodule's name
};

struct Node {
  std::string op;  // "aten.conv2d.default", "sym.mul", "hydro.batch_norm"
  std::vector<NamedArgument> arguments;
  std::vector<ValueId> outputs;
  Source source;
  std::int64_t position =
      0;  // place in the exported graph, kept by passes: keys the node's random numbers
  bool constant = false;  // see mark_constants() in passes.h

  /// Null when the node has no such argument.
  [[nodiscard]] const Argument* find_argument(std::string_view name) const;
  [[nodiscard]] Argument* find_argument(std::string_view name);
  /// Requires: the argument exists (BugError, names op and argument)
  [[nodiscard]] const Argument& argument(std::string_view name) const;
  [[nodiscard]] Argument& argument(std::string_view name);
  /// Typed access. Requires: it exists and has that kind (BugError).
  [[nodiscard]] ValueId value(std::string_view name) const;
  /// Empty for None.
  [[nodiscard]] std::optional<ValueId> optional_value(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name) const;  // integers convert
  [[nodiscard]] bool boolean(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] const std::vector<IntItem>& items(std::string_view name) const;
  /// As items(), all constants (BugError else).
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name) const;

  /// "aten.conv2d.default `layer1.0.conv1` (my_model.py:42)", for messages.
  [[nodiscard]] std::string describe() const;
};

enum class InputKind : std::uint8_t { kUser, kParameter, kBuffer, kConstant };
enum class OutputKind : std::uint8_t { kUser, kBuffer };

struct Input {
  InputKind kind = InputKind::kUser;
  std::string name;  // state-dict name; user inputs: the forward argument's name
  ValueId value{};
};

struct Output {
  OutputKind kind = OutputKind::kUser;
  std::string name;  // user outputs: field name; buffers: state-dict name of the buffer that
                     // takes this value
  ValueId value{};
};

class Graph {
 public:
  std::vector<Input> inputs;
  std::vector<Output> outputs;

  ValueId add_input(InputKind kind, std::string name, std::string value_name, Type type);
  /// Appends a node; its outputs get fresh names from `output_names` (made unique).
  NodeId add_node(Node node,
                  std::span<const std::string> output_names,
                  std::span<const Type> output_types);
  /// A value without producer yet, for readers and passes that wire it themselves.
  ValueId add_value(std::string name, Type type);

  [[nodiscard]] const Value& value(ValueId id) const;
  [[nodiscard]] Value& value(ValueId id);
  [[nodiscard]] const Node& node(NodeId id) const;
  [[nodiscard]] Node& node(NodeId id);

  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }

  [[nodiscard]] std::span<const Value> values() const { return values_; }

  [[nodiscard]] std::int32_t value_count() const {
    return static_cast<std::int32_t>(values_.size());
  }

  [[nodiscard]] std::int32_t node_count() const {
    return static_cast<std::int32_t>(nodes_.size());
  }

  /// Null when no input has that state-dict or argument name.
  [[nodiscard]] const Input* find_input(std::string_view name) const;

  /// Replaces the node list (kept order is the new execution order) and re-derives every
  /// producer.
  void set_nodes(std::vector<Node> nodes);
  /// Drops values that no input, node or output names, renumbering the rest; keeps names.
  void compact();

 private:
  std::string unique_name(std::string wanted) const;

  std::vector<Value> values_;
  std::vector<Node> nodes_;
  std::unordered_set<std::string> names_;  // of values_, so that a fresh name costs no scan
};

/// Every value that a node reads, in argument order, with repetition.
[[nodiscard]] std::vector<ValueId> operands(const Node& node);
/// Calls `rename` on every value that a node reads and stores what it returns.
void rename_operands(Node& node, const std::vector<ValueId>& renamed);
/// For each value the nodes that read it, in order.
[[nodiscard]] std::vector<std::vector<NodeId>> users(const Graph& graph);

/// Text form, and back; the golden tests' language. Round trips exactly but for Source's
/// module.
///
///   graph {
///     input user x %x: float32[~5, 3, 28, 28]
///     input parameter conv1.weight %w: float32[64, 3, 7, 7]
///     input buffer bn1.running_mean %m: float32[64]
///     %c: float32[~5, 64, 14, 14] = aten.conv2d.default(input=%x, weight=%w, bias=None,
///     stride=[2, 2])  # net.py:3 %n: int(5) = aten.sym_size.int(self=%x, dim=0) output user
///     logits %c output buffer bn1.running_mean %m2
///   }
/// `~5` is a dynamic dimension whose example size is 5. Strings are quoted, floats always carry
/// '.', 'e' or inf/nan, dtypes are written float32, lists of optional tensors as [%a, None].
///
/// Also: names with other letters than A-Z a-z 0-9 _ . - + are quoted; `@7` after the arguments
/// is a node's position where it is not the node before plus one, and `constant` before it a
/// marked node; an empty list of other than
/// integers carries its kind (`tensors[]`, `optionals[]`, `floats[]`, `bools[]`), as does
/// `optionals[%a]` without None; lines that start with `#` are skipped.
[[nodiscard]] std::string to_text(const Graph& graph);
/// Errors: H0259 with line and column.
[[nodiscard]] Result<Graph> parse_graph(std::string_view text);

/// "aten.relu_.default": an ATen op that writes into its first argument.
[[nodiscard]] bool mutates(std::string_view op);

/// Names resolve, values are defined before use and once, types fit, output kinds match inputs;
/// after functionalization (`Purity::kPure`) no op name ends in '_' and nothing mutates.
enum class Purity : std::uint8_t { kAny, kPure };
/// Errors: H0258 with the first thing that does not hold.
[[nodiscard]] Result<void> verify(const Graph& graph, Purity purity);

}  // namespace hydro::ir
