// Reads a graph's text form, statement by statement; text.cpp writes it.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/cursor.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/token.h"

namespace hydro::ir {

namespace {

std::optional<std::int64_t> integer_of(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = status == std::errc() && end == word.data() + word.size();
  return whole ? std::optional(value) : std::nullopt;
}

std::optional<double> double_of(std::string_view word) {
  double value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = status == std::errc() && end == word.data() + word.size();
  return whole ? std::optional(value) : std::nullopt;
}

struct Declared {
  std::string name;
  Type type;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : cursor_(text) {}

  Result<Graph> run() {
    cursor_.skip(Cursor::Skip::kLines);
    HYDRO_TRY_VOID(cursor_.expect("graph"));
    HYDRO_TRY_VOID(cursor_.expect("{"));
    for (;;) {
      cursor_.skip(Cursor::Skip::kLines);
      if (cursor_.take("}")) {
        break;
      }
      if (cursor_.at_end()) {
        return cursor_.error("the text ends before `}`");
      }
      HYDRO_TRY_VOID(statement());
    }
    cursor_.skip(Cursor::Skip::kLines);
    if (!cursor_.at_end()) {
      return cursor_.error("text after the closing `}`");
    }
    return std::move(graph_);
  }

 private:
  Result<void> statement() {
    const std::size_t start = cursor_.place();
    const std::string first = cursor_.word();
    if (first == "input") {
      return input();
    }
    if (first == "output") {
      return output();
    }
    cursor_.go_back(start);
    return node();
  }

  Result<void> input() {
    const std::string kind_word = cursor_.word();
    const std::optional<InputKind> kind = find_input_kind(kind_word);
    if (!kind) {
      return cursor_.error("`" + kind_word +
                           "` is no input kind (user, parameter, buffer, constant)");
    }
    HYDRO_TRY(std::string name, cursor_.name());
    HYDRO_TRY(Declared declared, declaration());
    const ValueId id = graph_.add_input(*kind, std::move(name), declared.name, declared.type);
    ids_.emplace(std::move(declared.name), id);
    return end_of_statement(nullptr);
  }

  Result<void> output() {
    const std::string kind_word = cursor_.word();
    const std::optional<OutputKind> kind = find_output_kind(kind_word);
    if (!kind) {
      return cursor_.error("`" + kind_word + "` is no output kind (user, buffer)");
    }
    HYDRO_TRY(std::string name, cursor_.name());
    HYDRO_TRY(const ValueId value, reference());
    graph_.outputs.push_back({.kind = *kind, .name = std::move(name), .value = value});
    return end_of_statement(nullptr);
  }

  Result<void> node() {
    std::vector<std::string> names;
    std::vector<Type> types;
    cursor_.skip(Cursor::Skip::kBlanks);
    if (cursor_.peek() == '%') {
      do {
        HYDRO_TRY(Declared declared, declaration());
        names.push_back(std::move(declared.name));
        types.push_back(std::move(declared.type));
      } while (cursor_.take(","));
      HYDRO_TRY_VOID(cursor_.expect("="));
    }
    Node node;
    node.op = cursor_.word();
    if (node.op.empty()) {
      return cursor_.error("expected an op, `input`, `output` or `}`");
    }
    HYDRO_TRY_VOID(arguments(node));
    node.position = next_position_;
    HYDRO_TRY_VOID(end_of_statement(&node));
    next_position_ = node.position + 1;
    const NodeId id = graph_.add_node(std::move(node), names, types);
    for (std::size_t i = 0; i < names.size(); ++i) {
      ids_.emplace(names[i], graph_.node(id).outputs[i]);
    }
    return {};
  }

  // "constant @7  # place" and the end of the line.
  Result<void> end_of_statement(Node* node) {
    if (node != nullptr) {
      node->constant = cursor_.take("constant");
    }
    if (node != nullptr && cursor_.take("@")) {
      const std::optional<std::int64_t> position = integer_of(cursor_.word());
      if (!position) {
        return cursor_.error("expected a position after `@`");
      }
      node->position = *position;
    }
    if (cursor_.take("#")) {
      const std::string place = cursor_.rest_of_line();
      if (node != nullptr) {
        node->source.place = place;
      }
    }
    cursor_.skip(Cursor::Skip::kBlanks);
    if (!cursor_.at_end() && cursor_.peek() != '\n' && cursor_.peek() != '}') {
      return cursor_.error("expected the end of the line");
    }
    return {};
  }

  Result<Declared> declaration() {
    HYDRO_TRY_VOID(cursor_.expect("%"));
    std::string name = cursor_.word();
    if (name.empty()) {
      return cursor_.error("expected a value's name after `%`");
    }
    if (ids_.contains(name)) {
      return cursor_.error("value `%" + name + "` is defined twice");
    }
    HYDRO_TRY_VOID(cursor_.expect(":"));
    HYDRO_TRY(Type parsed, type());
    return Declared{.name = std::move(name), .type = std::move(parsed)};
  }

  Result<Type> type() {
    const std::string word = cursor_.word();
    if (word == "int") {
      HYDRO_TRY_VOID(cursor_.expect("("));
      HYDRO_TRY(const std::int64_t hint, integer());
      HYDRO_TRY_VOID(cursor_.expect(")"));
      return Type(IntType{.hint = hint});
    }
    const std::optional<DType> dtype = find_dtype(word);
    if (!dtype) {
      return cursor_.error("`" + word + "` is no type");
    }
    TensorType tensor{.dtype = *dtype, .shape = {}};
    HYDRO_TRY_VOID(cursor_.expect("["));
    while (!cursor_.take("]")) {
      if (!tensor.shape.empty()) {
        HYDRO_TRY_VOID(cursor_.expect(","));
      }
      const bool dynamic = cursor_.take("~");
      HYDRO_TRY(const std::int64_t size, integer());
      tensor.shape.push_back({.size = size, .dynamic = dynamic});
    }
    return Type(std::move(tensor));
  }

  Result<std::int64_t> integer() {
    const std::string word = cursor_.word();
    const std::optional<std::int64_t> value = integer_of(word);
    if (!value) {
      return cursor_.error("`" + word + "` is no integer");
    }
    return *value;
  }

  Result<ValueId> reference() {
    HYDRO_TRY_VOID(cursor_.expect("%"));
    const std::string name = cursor_.word();
    const auto found = ids_.find(name);
    if (found == ids_.end()) {
      return cursor_.error("value `%" + name + "` is not defined before this use");
    }
    return found->second;
  }

  Result<void> arguments(Node& node) {
    HYDRO_TRY_VOID(cursor_.expect("("));
    while (!cursor_.take(")")) {
      if (!node.arguments.empty()) {
        HYDRO_TRY_VOID(cursor_.expect(","));
      }
      std::string name = cursor_.word();
      if (name.empty()) {
        return cursor_.error("expected an argument's name or `)`");
      }
      if (node.find_argument(name) != nullptr) {
        return cursor_.error("argument `" + name + "` is given twice");
      }
      HYDRO_TRY_VOID(cursor_.expect("="));
      HYDRO_TRY(Argument value, argument());
      node.arguments.push_back({.name = std::move(name), .value = std::move(value)});
    }
    return {};
  }

  Result<Argument> argument() {
    cursor_.skip(Cursor::Skip::kBlanks);
    if (cursor_.peek() == '"') {
      HYDRO_TRY(std::string text, cursor_.quoted());
      return Argument(std::move(text));
    }
    if (cursor_.peek() == '%') {
      HYDRO_TRY(const ValueId value, reference());
      return Argument(value);
    }
    const std::string word = cursor_.word();
    if (cursor_.take("[")) {
      HYDRO_TRY(const std::vector<Argument> items, list_items());
      return list(word, items);
    }
    return scalar(word);
  }

  Result<Argument> scalar(const std::string& word) {
    if (word == "None") {
      return Argument(None{});
    }
    if (word == "True" || word == "true" || word == "False" || word == "false") {
      return Argument(word == "True" || word == "true");
    }
    if (const std::optional<DType> dtype = find_dtype(word)) {
      return Argument(*dtype);
    }
    if (const std::optional<std::int64_t> value = integer_of(word)) {
      return Argument(*value);
    }
    if (const std::optional<double> value = double_of(word)) {
      return Argument(*value);
    }
    return cursor_.error("`" + word + "` is no argument");
  }

  Result<std::vector<Argument>> list_items() {
    std::vector<Argument> items;
    while (!cursor_.take("]")) {
      if (!items.empty()) {
        HYDRO_TRY_VOID(cursor_.expect(","));
      }
      if (cursor_.take("[")) {
        return cursor_.error("a list inside a list");
      }
      HYDRO_TRY(Argument item, argument());
      items.push_back(std::move(item));
    }
    return items;
  }

  template <class Kind>
  static bool all_are(const std::vector<Argument>& items) {
    for (const Argument& item : items) {
      if (!std::holds_alternative<Kind>(item)) {
        return false;
      }
    }
    return true;
  }

  template <class Kind>
  static Argument list_of(const std::vector<Argument>& items) {
    std::vector<Kind> result;
    result.reserve(items.size());
    for (const Argument& item : items) {
      result.push_back(std::get<Kind>(item));
    }
    return result;
  }

  static Argument optionals(const std::vector<Argument>& items) {
    std::vector<std::optional<ValueId>> result;
    for (const Argument& item : items) {
      const auto* value = std::get_if<ValueId>(&item);
      result.push_back(value == nullptr ? std::nullopt : std::optional(*value));
    }
    return result;
  }

  // Integers and integer values; empty when another item is among them.
  std::optional<Argument> int_items(const std::vector<Argument>& items) const {
    std::vector<IntItem> result;
    for (const Argument& item : items) {
      if (const auto* constant = std::get_if<std::int64_t>(&item)) {
        result.emplace_back(*constant);
      } else if (const auto* value = std::get_if<ValueId>(&item);
                 value != nullptr && !graph_.value(*value).is_tensor()) {
        result.emplace_back(*value);
      } else {
        return std::nullopt;
      }
    }
    return result;
  }

  /// The prefix that a list without one could have; empty when its items do not say.
  std::string_view kind_of(const std::vector<Argument>& items) const {
    if (items.empty()) {
      return "";
    }
    if (all_are<ValueId>(items) && !int_items(items).has_value()) {
      return "tensors";
    }
    if (all_are<double>(items)) {
      return "floats";
    }
    return all_are<bool>(items) ? "bools" : "";
  }

  template <class Kind>
  Result<Argument> pure_list(const std::vector<Argument>& items) const {
    return all_are<Kind>(items) ? Result(list_of<Kind>(items)) : mixed();
  }

  Result<Argument> list(const std::string& prefix, const std::vector<Argument>& items) const {
    if (prefix == "optionals") {
      return optionals(items);
    }
    const std::string_view kind = prefix.empty() ? kind_of(items) : prefix;
    if (kind == "tensors") {
      return pure_list<ValueId>(items);
    }
    if (kind == "floats") {
      return pure_list<double>(items);
    }
    if (kind == "bools") {
      return pure_list<bool>(items);
    }
    if (!prefix.empty()) {
      return cursor_.error("`" + prefix +
                           "` is no kind of list (tensors, optionals, floats, bools)");
    }
    if (std::optional<Argument> integers = int_items(items)) {
      return *std::move(integers);
    }
    const bool all_optional = std::ranges::all_of(items, [](const Argument& item) {
      return std::holds_alternative<ValueId>(item) || std::holds_alternative<None>(item);
    });
    return all_optional ? Result(optionals(items)) : mixed();
  }

  Error mixed() const { return cursor_.error("a list of items of different kinds"); }

  Cursor cursor_;
  Graph graph_;
  std::map<std::string, ValueId> ids_;
  std::int64_t next_position_ = 0;
};

}  // namespace

Result<Graph> parse_graph(std::string_view text) {
  return Parser(text).run();
}

}  // namespace hydro::ir
