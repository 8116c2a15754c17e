// hydro/ir/schema.h — an op's signature as PyTorch writes it, from which missing arguments are
// filled in:
//   aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, ...) ->
//   Tensor
// Source: aten/src/ATen/native/README.md of PyTorch, "func".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"

namespace hydro::ir {

enum class SchemaKind : std::uint8_t {
  kTensor,
  kTensors,
  kOptionalTensors,
  kInt,
  kInts,
  kFloat,
  kFloats,
  kBool,
  kBools,
  kScalar,
  kDType,
  kText,
  kDropped,  // devices, layouts, memory formats, generators, and flags about them
  kOther
};

struct SchemaArgument {
  std::string name;
  SchemaKind kind = SchemaKind::kOther;
  std::int64_t list_size = 0;  // 2 of int[2]: a single integer stands for two
  bool mutated = false;        // Tensor(a!)
  std::optional<Argument> fallback;
};

struct OpSchema {
  std::vector<SchemaArgument> arguments;
  bool is_view =
      false;  // a result may share memory with an argument: Tensor(a) self ... -> Tensor(a)
};

/// By op as the graph names it, "aten.conv2d.default".
using Schemas = std::map<std::string, OpSchema, std::less<>>;

/// Errors: H0250.
[[nodiscard]] Result<OpSchema> parse_schema(std::string_view text);
/// The argument in the form that its schema wants: one integer for int[2] doubled, integers as
/// floats, empty lists of the right kind. A number where a tensor is wanted stays a number.
[[nodiscard]] Argument normalized(Argument argument, const SchemaArgument& schema);

}  // namespace hydro::ir
