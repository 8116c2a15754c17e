#include "hydro/pt2/tensor_meta.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/pt2/field.h"

namespace hydro::pt2 {

namespace {

struct CodeRow {
  std::int64_t code;
  ir::DType dtype;
};

// torch/_export/serde/schema.py, class ScalarType.
constexpr std::array kCodes = {
    CodeRow{.code = 1, .dtype = ir::DType::kUInt8},
    CodeRow{.code = 2, .dtype = ir::DType::kInt8},
    CodeRow{.code = 3, .dtype = ir::DType::kInt16},
    CodeRow{.code = 4, .dtype = ir::DType::kInt32},
    CodeRow{.code = 5, .dtype = ir::DType::kInt64},
    CodeRow{.code = 6, .dtype = ir::DType::kFloat16},
    CodeRow{.code = 7, .dtype = ir::DType::kFloat32},
    CodeRow{.code = 8, .dtype = ir::DType::kFloat64},
    CodeRow{.code = 12, .dtype = ir::DType::kBool},
    CodeRow{.code = 13, .dtype = ir::DType::kBFloat16},
};

}  // namespace

Result<ir::DType> read_dtype(const Field& code) {
  HYDRO_TRY(const std::int64_t number, code.integer());
  for (const CodeRow& row : kCodes) {
    if (row.code == number) {
      return row.dtype;
    }
  }
  return make_error(
             "H0246",
             "dtype " + std::to_string(number) + " of the export schema is not supported")
      .at(code.where());
}

Result<ir::Dim> read_size(const Field& size) {
  HYDRO_TRY(const auto member, size.only_member());
  ir::Dim dim{.size = 0, .dynamic = member.first == "as_expr"};
  if (dim.dynamic) {
    HYDRO_TRY(const Field hint, member.second.at("hint"));
    HYDRO_TRY(dim.size, hint.integer("as_int"));
  } else {
    HYDRO_TRY(dim.size, member.second.integer());
  }
  return dim.size < 0 ? Result<ir::Dim>(size.wrong("a size that is not negative"))
                      : Result(dim);
}

Result<ir::TensorType> read_tensor_type(const Field& meta) {
  constexpr std::int64_t kStrided = 7;
  HYDRO_TRY(const Field code, meta.at("dtype"));
  HYDRO_TRY(const std::vector<Field> sizes, meta.items("sizes"));
  HYDRO_TRY(const std::int64_t layout, meta.integer("layout"));
  if (layout != kStrided) {
    return make_error("H0246", "a sparse tensor").at(meta.where());
  }
  ir::TensorType type;
  HYDRO_TRY(type.dtype, read_dtype(code));
  for (const Field& size : sizes) {
    HYDRO_TRY(const ir::Dim dim, read_size(size));
    type.shape.push_back(dim);
  }
  return type;
}

Result<std::vector<std::int64_t>> read_constant_sizes(const Field& sizes) {
  HYDRO_TRY(const std::vector<Field> items, sizes.items());
  std::vector<std::int64_t> result;
  for (const Field& item : items) {
    HYDRO_TRY(const ir::Dim dim, read_size(item));
    if (dim.dynamic) {
      return item.wrong("a constant size");
    }
    result.push_back(dim.size);
  }
  return result;
}

}  // namespace hydro::pt2
