// hydro/pt2/archive.h — reads what `hydro export` wrote: model.pt2 -> ir::Model and the
// manifest. Everything in the file is untrusted: limits on entries, sizes, ratio and names;
// nothing is unpickled, loaded or written to disk. Source: docs/model-archive.md (layout,
// manifest).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/model.h"

namespace hydro::pt2 {

/// One tensor that the user feeds.
struct ManifestInput {
  std::string name;
  ir::DType dtype = ir::DType::kFloat32;
  std::vector<std::int64_t> shape;  // -1 at the batch axis
  std::int64_t batch_axis = 0;
};

struct Manifest {
  std::string callable;   // "torchvision.models:resnet18"
  std::string arguments;  // JSON: {"args": [...], "kwargs": {...}}
  std::vector<ManifestInput> inputs;
  std::vector<std::string> outputs;  // names in order
  std::string selected_output;
  std::string torch_version;
  std::vector<std::string> warnings;  // what the exporter wants the user to read
  std::string fingerprint;  // hash of the archive's whole content: the graph id's first part
};

struct Archive {
  Manifest manifest;
  ir::Model model;
};

struct ReadOptions {
  std::string output;  // which output to keep; empty: the only one, or "logits", or "loss"
};

/// Reads, checks and simplifies (pass order in hydro/ir/passes.h) both graphs.
///
/// Errors: H02xx: not an archive of `hydro export`, damaged, over a limit, pickled or scripted
/// content,
///         an op or argument that the reader does not know (with the user's file and line)
[[nodiscard]] Result<Archive> read_archive(const std::filesystem::path& path,
                                           const ReadOptions& options);
/// The same for an archive in memory: tests and fuzzing.
[[nodiscard]] Result<Archive> read_archive_bytes(std::span<const std::byte> bytes,
                                                 const ReadOptions& options);

}  // namespace hydro::pt2
