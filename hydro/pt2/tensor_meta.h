// hydro/pt2/tensor_meta.h — the JSON descriptions of tensors and sizes in an archive.
#pragma once

#include <cstdint>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/pt2/field.h"

namespace hydro::pt2 {

/// By the export schema's own numbers (7 is float32), not c10's. Errors: H0243, H0246.
[[nodiscard]] Result<ir::DType> read_dtype(const Field& code);
/// {"as_int": 3} or {"as_expr": {"hint": {"as_int": 5}}}: a constant, or a size that follows
/// the batch.
[[nodiscard]] Result<ir::Dim> read_size(const Field& size);
/// dtype and sizes of a tensor_meta. Errors: H0243, H0246 (also: not strided).
[[nodiscard]] Result<ir::TensorType> read_tensor_type(const Field& meta);
/// A list of {"as_int": n}, all constant and not negative.
[[nodiscard]] Result<std::vector<std::int64_t>> read_constant_sizes(const Field& sizes);

}  // namespace hydro::pt2
