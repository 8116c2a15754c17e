#include "hydro/run/token_tables.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hydro/ir/graph.h"
#include "hydro/run/same_numbers.h"

namespace hydro::run {

std::optional<std::int64_t> table_rows(const ir::Graph& graph, std::string_view name) {
  const ir::Input* input = graph.find_input(name);
  if (input == nullptr || input->kind != ir::InputKind::kUser) {
    return std::nullopt;
  }
  std::optional<std::int64_t> rows;
  for (const ir::Node& node : graph.nodes()) {
    if (node.op != "aten.embedding.default" ||
        origin_of(graph, node.value("indices")) != input->value) {
      continue;
    }
    const std::int64_t size = graph.value(node.value("weight")).tensor().shape.front().size;
    rows = std::min(rows.value_or(size), size);
  }
  return rows;
}

}  // namespace hydro::run
