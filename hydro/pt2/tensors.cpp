#include "hydro/pt2/tensors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/pt2/archive_files.h"
#include "hydro/pt2/field.h"
#include "hydro/pt2/tensor_meta.h"

namespace hydro::pt2 {

namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 33U;

Result<StoredTensor> read_row(const Field& row, const std::string& folder) {
  HYDRO_TRY(const std::string path, row.text("path_name"));
  HYDRO_TRY(const Field pickled, row.at("use_pickle"));
  HYDRO_TRY(const bool is_pickled, pickled.boolean());
  if (path.starts_with("custom_obj_") || path.starts_with("opaque_obj_")) {
    return make_error("H0237", "a script object is among the tensors").at(row.where());
  }
  if (is_pickled) {
    return make_error("H0236", "a tensor is saved as a pickle").at(row.where());
  }
  HYDRO_TRY(const Field meta, row.at("tensor_meta"));
  HYDRO_TRY(const ir::TensorType type, read_tensor_type(meta));
  HYDRO_TRY(const Field sizes, meta.at("sizes"));
  HYDRO_TRY(const Field strides, meta.at("strides"));
  HYDRO_TRY(const Field offset, meta.at("storage_offset"));
  StoredTensor stored{
      .path = "data/" + folder + "/" + path, .dtype = type.dtype, .shape = {}, .strides = {}};
  HYDRO_TRY(stored.shape, read_constant_sizes(sizes));
  HYDRO_TRY(stored.strides, read_constant_sizes(strides));
  HYDRO_TRY(stored.offset, offset.integer("as_int"));
  if (stored.strides.size() != stored.shape.size() || stored.offset < 0) {
    return meta.wrong("one stride a dimension, and an offset that is not negative");
  }
  return stored;
}

// Elements; empty when there are too many to count.
std::optional<std::int64_t> element_count(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size == 0) {
      return 0;
    }
  }
  for (const std::int64_t size : shape) {
    if (size > kMostElements / count) {
      return std::nullopt;
    }
    count *= size;
  }
  return count;
}

// The last element that the tensor touches; empty when beyond any storage.
std::optional<std::int64_t> last_element(const StoredTensor& stored) {
  if (stored.offset > kMostElements) {
    return std::nullopt;
  }
  std::int64_t last = stored.offset;
  for (std::size_t i = 0; i < stored.shape.size(); ++i) {
    const std::int64_t steps = stored.shape[i] - 1;
    if (steps > 0 && stored.strides[i] > (kMostElements - last) / steps) {
      return std::nullopt;
    }
    last += steps * stored.strides[i];
  }
  return last;
}

// Walks the shape in row-major order and copies element by element.
void gather(const StoredTensor& stored, const Bytes& storage, Bytes& out) {
  const auto size = static_cast<std::size_t>(ir::dtype_size(stored.dtype));
  std::vector<std::int64_t> index(stored.shape.size(), 0);
  std::int64_t from = stored.offset;
  for (std::size_t to = 0; to < out.size(); to += size) {
    const auto start =
        storage.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(from) * size);
    std::copy_n(start, size, out.begin() + static_cast<std::ptrdiff_t>(to));
    for (std::size_t dim = index.size(); dim-- > 0;) {
      from += stored.strides[dim];
      if (++index[dim] < stored.shape[dim]) {
        break;
      }
      from -= index[dim] * stored.strides[dim];
      index[dim] = 0;
    }
  }
}

Error misfit(const std::string& name, const std::string& what) {
  return make_error("H0251", "tensor `" + printable(name.substr(0, 200)) + "` " + what);
}

}  // namespace

Result<StoredTensors> read_tensor_table(ArchiveFiles& files,
                                        const std::string& folder,
                                        const std::string& model) {
  const std::string path = "data/" + folder + "/" + model + "_" + folder + "_config.json";
  HYDRO_TRY(const Json json, files.read_json(path));
  const Field root(json, path);
  HYDRO_TRY(const Field config, root.at("config"));
  HYDRO_TRY(const auto rows, config.members());
  StoredTensors table;
  for (const auto& [name, row] : rows) {
    HYDRO_TRY(StoredTensor stored, read_row(row, folder));
    table.emplace(name, std::move(stored));
  }
  return table;
}

Result<ir::TensorData> read_tensor(ArchiveFiles& files,
                                   const std::string& name,
                                   const StoredTensor& stored) {
  constexpr std::uint64_t kLimit = 4ULL << 30U;
  constexpr std::int64_t kFree = 1 << 20;
  constexpr std::int64_t kRatio = 100;
  const std::optional<std::int64_t> count = element_count(stored.shape);
  const std::optional<std::int64_t> last = last_element(stored);
  if (!count || !last) {
    return misfit(name, "is larger than any storage");
  }
  ir::TensorData tensor{.dtype = stored.dtype, .shape = stored.shape, .bytes = {}};
  if (*count == 0) {
    return tensor;
  }
  HYDRO_TRY(const Bytes storage, files.read(stored.path, kLimit));
  const std::int64_t size = ir::dtype_size(stored.dtype);
  const auto held = static_cast<std::int64_t>(storage.size());
  if (storage.empty()) {
    return misfit(name, "has no data");
  }
  if (*last >= held / size) {
    return misfit(name, "points outside its " + std::to_string(held) + " stored bytes");
  }
  if (*count * size > kFree && *count * size / kRatio > held) {
    return make_error("H0233",
                      "tensor `" + printable(name.substr(0, 200)) + "` is more than " +
                          std::to_string(kRatio) + " times what is stored");
  }
  tensor.bytes.resize(static_cast<std::size_t>(*count * size));
  gather(stored, storage, tensor.bytes);
  return tensor;
}

}  // namespace hydro::pt2
