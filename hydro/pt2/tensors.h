// hydro/pt2/tensors.h — the data of an archive's tensors: raw bytes of storages, described in
// two JSON tables.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/ir/model.h"
#include "hydro/pt2/archive_files.h"

namespace hydro::pt2 {

/// Where a tensor's bytes lie and how.
struct StoredTensor {
  std::string path;  // "data/weights/weight_3"
  ir::DType dtype = ir::DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;  // elements
};

using StoredTensors = std::map<std::string, StoredTensor, std::less<>>;

/// data/weights/NAME_weights_config.json, data/constants/NAME_constants_config.json.
///
/// Errors: H0236 pickled; H0237 script object; H0242, H0243, H0246
[[nodiscard]] Result<StoredTensors> read_tensor_table(ArchiveFiles& files,
                                                      const std::string& folder,
                                                      const std::string& model);

/// The tensor's elements, row-major, whatever its strides and offset.
///
/// Errors: H0251 outside the stored bytes, or none stored; H0233 far larger than what is stored
[[nodiscard]] Result<ir::TensorData> read_tensor(ArchiveFiles& files,
                                                 const std::string& name,
                                                 const StoredTensor& stored);

}  // namespace hydro::pt2
