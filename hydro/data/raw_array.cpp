#include "hydro/data/raw_array.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/base/safetensors.h"
#include "hydro/base/text.h"

namespace hydro::data {
namespace {

struct DtypeRow {
  std::string_view name;
  NumberKind kind;
};

constexpr std::array kDtypes = {DtypeRow{.name = "U8", .kind = NumberKind::kUInt8},
                                DtypeRow{.name = "I32", .kind = NumberKind::kInt32},
                                DtypeRow{.name = "I64", .kind = NumberKind::kInt64},
                                DtypeRow{.name = "F32", .kind = NumberKind::kFloat32},
                                DtypeRow{.name = "F64", .kind = NumberKind::kFloat64}};

std::vector<std::string> names_of(const SafeTensorFile& file) {
  std::vector<std::string> names;
  names.reserve(file.tensors.size());
  for (const auto& [name, tensor] : file.tensors) {
    names.push_back("`" + printable(name) + "`");
  }
  return names;
}

}  // namespace

std::uint64_t byte_size(NumberKind kind) {
  switch (kind) {
    case NumberKind::kUInt8:
      return 1;
    case NumberKind::kInt32:
    case NumberKind::kFloat32:
      return 4;
    case NumberKind::kInt64:
    case NumberKind::kFloat64:
      break;
  }
  return 8;
}

std::optional<std::uint64_t> element_count(std::span<const std::int64_t> shape) {
  std::uint64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(size), &count)) {
      return std::nullopt;
    }
  }
  return count;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::vector<std::string> sizes;
  sizes.reserve(shape.size());
  for (const std::int64_t size : shape) {
    sizes.push_back(std::to_string(size));
  }
  return "[" + join(sizes, ", ") + "]";
}

Result<Bytes> read_data_file(const std::filesystem::path& path) {
  auto content = read_file(path);
  if (!content) {
    return make_error("H0401", "cannot open data file `" + path.string() + "`")
        .at(path.string())
        .because(content.error().why);
  }
  return content;
}

void keep_first(RawArray& array, std::optional<std::int64_t> limit) {
  if (!limit || *limit >= array.shape.front() || array.shape.front() == 0) {
    return;
  }
  const std::size_t sample = array.bytes.size() / static_cast<std::size_t>(array.shape.front());
  array.shape.front() = std::max<std::int64_t>(*limit, 0);
  array.bytes.resize(sample * static_cast<std::size_t>(array.shape.front()));
  array.bytes.shrink_to_fit();
}

Result<RawArray> read_tensor(const std::filesystem::path& path, const std::string& name) {
  HYDRO_TRY(Bytes content, read_data_file(path));
  HYDRO_TRY(const SafeTensorFile file, parse_safetensors(std::move(content), path.string()));
  auto found = file.tensors.find(name);
  if (found == file.tensors.end() && file.tensors.size() == 1) {
    found = file.tensors.begin();
  }
  if (found == file.tensors.end()) {
    return make_error("H0412", "no tensor `" + printable(name) + "` in the file")
        .at(path.string())
        .because("it holds " + (file.tensors.empty() ? "none" : join(names_of(file), ", ")));
  }
  const SafeTensor& tensor = found->second;
  const auto* row = std::ranges::find(kDtypes, tensor.dtype, &DtypeRow::name);
  if (row == kDtypes.end()) {
    return make_error(
               "H0409",
               "tensor `" + printable(found->first) + "` has element type " + tensor.dtype)
        .at(path.string());
  }
  if (tensor.shape.empty()) {
    return make_error("H0410",
                      "tensor `" + printable(found->first) +
                          "` is a single number, not one entry a sample")
        .at(path.string());
  }
  return RawArray{.kind = row->kind,
                  .shape = tensor.shape,
                  .bytes = {tensor.bytes.begin(), tensor.bytes.end()}};
}

}  // namespace hydro::data
