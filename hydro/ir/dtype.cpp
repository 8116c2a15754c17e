#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"

namespace hydro::ir {

namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::int64_t size;
  bool floating;
};

constexpr std::array kDTypes = {
    DTypeRow{.dtype = DType::kBool, .name = "bool", .size = 1, .floating = false},
    DTypeRow{.dtype = DType::kUInt8, .name = "uint8", .size = 1, .floating = false},
    DTypeRow{.dtype = DType::kInt8, .name = "int8", .size = 1, .floating = false},
    DTypeRow{.dtype = DType::kInt16, .name = "int16", .size = 2, .floating = false},
    DTypeRow{.dtype = DType::kInt32, .name = "int32", .size = 4, .floating = false},
    DTypeRow{.dtype = DType::kInt64, .name = "int64", .size = 8, .floating = false},
    DTypeRow{.dtype = DType::kFloat16, .name = "float16", .size = 2, .floating = true},
    DTypeRow{.dtype = DType::kBFloat16, .name = "bfloat16", .size = 2, .floating = true},
    DTypeRow{.dtype = DType::kFloat32, .name = "float32", .size = 4, .floating = true},
    DTypeRow{.dtype = DType::kFloat64, .name = "float64", .size = 8, .floating = true},
};

const DTypeRow& row(DType dtype) {
  const auto* found = std::ranges::find(kDTypes, dtype, &DTypeRow::dtype);
  HYDRO_CHECK(found != kDTypes.end(), "dtype without a row");
  return *found;
}

}  // namespace

std::string_view dtype_name(DType dtype) {
  return row(dtype).name;
}

std::optional<DType> find_dtype(std::string_view name) {
  const auto* found = std::ranges::find(kDTypes, name, &DTypeRow::name);
  return found == kDTypes.end() ? std::nullopt : std::optional(found->dtype);
}

std::int64_t dtype_size(DType dtype) {
  return row(dtype).size;
}

bool is_floating(DType dtype) {
  return row(dtype).floating;
}

}  // namespace hydro::ir
