#include "hydro/pt2/archive.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/ir/passes.h"
#include "hydro/pt2/archive_files.h"
#include "hydro/pt2/byte_source.h"
#include "hydro/pt2/exported_graph.h"
#include "hydro/pt2/manifest_reader.h"
#include "hydro/pt2/tensors.h"

namespace hydro::pt2 {

namespace {

Error mismatch(const std::string& what) {
  return make_error("H0253", what);
}

bool same_shape(const std::vector<std::int64_t>& wanted, const std::vector<ir::Dim>& shape) {
  return std::ranges::equal(wanted, shape, [](std::int64_t size, const ir::Dim& dim) {
    return size == -1 ? dim.dynamic : !dim.dynamic && dim.size == size;
  });
}

// The graph's inputs are what the manifest says they are.
Result<void> check_inputs(const ir::Graph& graph, const ReadManifest& read) {
  for (const ir::Input& input : graph.inputs) {
    const ir::TensorType& type = graph.value(input.value).tensor();
    if (input.kind == ir::InputKind::kUser) {
      const auto user =
          std::ranges::find(read.manifest.inputs, input.name, &ManifestInput::name);
      if (user == read.manifest.inputs.end() || user->dtype != type.dtype ||
          !same_shape(user->shape, type.shape)) {
        return mismatch("input `" + input.name + "` differs between graph and manifest");
      }
      continue;
    }
    const auto entry = std::ranges::find(read.state, input.name, &ir::StateEntry::name);
    if (input.kind == ir::InputKind::kConstant && entry == read.state.end()) {
      continue;
    }
    const bool parameter = input.kind == ir::InputKind::kParameter;
    const bool fits = entry != read.state.end() && entry->dtype == type.dtype &&
                      same_shape(entry->shape, type.shape) &&
                      parameter == (entry->kind == ir::StateKind::kParameter ||
                                    entry->kind == ir::StateKind::kFrozen);
    if (!fits) {
      return mismatch("`" + input.name + "` differs between graph and manifest");
    }
  }
  return {};
}

Result<ir::Graph> read_graph(ArchiveFiles& files,
                             const std::string& name,
                             const ReadManifest& read) {
  const std::string path = "models/" + name + ".json";
  HYDRO_TRY(const Json json, files.read_json(path));
  HYDRO_TRY(ir::Graph graph, read_exported_graph(json, path, read.ends));
  HYDRO_TRY_VOID(ir::verify(graph, ir::Purity::kAny));
  HYDRO_TRY_VOID(check_inputs(graph, read));
  HYDRO_TRY_VOID(ir::run_passes(graph, read.passes));
  return graph;
}

// Buffers and frozen parameters; both models hold the same, so the training one's are read.
Result<void> read_state_tensors(ArchiveFiles& files, ir::Model& model) {
  HYDRO_TRY(const StoredTensors weights, read_tensor_table(files, "weights", "train"));
  HYDRO_TRY(const StoredTensors constants, read_tensor_table(files, "constants", "train"));
  for (const ir::StateEntry& entry : model.state) {
    if (entry.kind == ir::StateKind::kParameter || !entry.tie.empty()) {
      continue;
    }
    const auto in_weights = weights.find(entry.name);
    const auto found = in_weights != weights.end() ? in_weights : constants.find(entry.name);
    if (found == (in_weights != weights.end() ? weights.end() : constants.end())) {
      return mismatch("the data of `" + entry.name + "` are not in the archive");
    }
    if (found->second.shape != entry.shape || found->second.dtype != entry.dtype) {
      return mismatch("the data of `" + entry.name +
                      "` have another shape or type than the manifest says");
    }
    HYDRO_TRY(ir::TensorData data, read_tensor(files, entry.name, found->second));
    model.tensors.emplace(entry.name, std::move(data));
  }
  return {};
}

bool same_data(const ir::TensorData& left, const ir::TensorData& right) {
  return left.dtype == right.dtype && left.shape == right.shape && left.bytes == right.bytes;
}

// Lifted constants of one graph. Where the other graph has another tensor under the name, this
// one gets a new name.
Result<void> read_constants(ArchiveFiles& files,
                            const std::string& name,
                            ir::Graph& graph,
                            ir::Model& model) {
  HYDRO_TRY(const StoredTensors table, read_tensor_table(files, "constants", name));
  for (ir::Input& input : graph.inputs) {
    if (input.kind != ir::InputKind::kConstant || model.find_state(input.name) != nullptr) {
      continue;
    }
    const auto stored = table.find(input.name);
    if (stored == table.end()) {
      return mismatch("the data of constant `" + input.name + "` are not in the archive");
    }
    const ir::TensorType& type = graph.value(input.value).tensor();
    if (stored->second.dtype != type.dtype || !same_shape(stored->second.shape, type.shape)) {
      return mismatch("the data of constant `" + input.name +
                      "` have another shape or type than the graph says");
    }
    HYDRO_TRY(ir::TensorData data, read_tensor(files, input.name, stored->second));
    const auto known = model.tensors.find(input.name);
    if (known != model.tensors.end() && !same_data(known->second, data)) {
      input.name += "." + name;
    }
    model.tensors.emplace(input.name, std::move(data));
  }
  return {};
}

Result<Archive> read_files(ArchiveFiles& files, const ReadOptions& options) {
  HYDRO_TRY(const Json json, files.read_json("extra/hydro_manifest.json"));
  HYDRO_TRY(ReadManifest read, read_manifest(json));
  HYDRO_TRY(read.passes.output, choose_output(read.manifest.outputs, options.output));
  Archive archive{.manifest = read.manifest, .model = {}};
  archive.manifest.selected_output = read.passes.output;
  archive.manifest.fingerprint = files.fingerprint();
  HYDRO_TRY(archive.model.train, read_graph(files, "train", read));
  HYDRO_TRY(archive.model.eval, read_graph(files, "eval", read));
  ir::mark_constants(archive.model);
  archive.model.state = std::move(read.state);
  HYDRO_TRY_VOID(read_state_tensors(files, archive.model));
  HYDRO_TRY_VOID(read_constants(files, "train", archive.model.train, archive.model));
  HYDRO_TRY_VOID(read_constants(files, "eval", archive.model.eval, archive.model));
  return archive;
}

Result<Archive> read_source(std::unique_ptr<ByteSource> source, const ReadOptions& options) {
  HYDRO_TRY(ArchiveFiles files, ArchiveFiles::open(std::move(source)));
  return read_files(files, options);
}

}  // namespace

Result<Archive> read_archive(const std::filesystem::path& path, const ReadOptions& options) {
  HYDRO_TRY(std::unique_ptr<ByteSource> source, open_file_source(path));
  Result<Archive> archive = read_source(std::move(source), options);
  if (!archive && archive.error().where.empty()) {
    archive.error().where = path.string();
  }
  return archive;
}

Result<Archive> read_archive_bytes(std::span<const std::byte> bytes,
                                   const ReadOptions& options) {
  return read_source(make_memory_source(bytes), options);
}

}  // namespace hydro::pt2
