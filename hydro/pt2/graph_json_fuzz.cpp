// libFuzzer: any text as {"manifest": the manifest, "graph": models/train.json}, through both
// readers, the verifier and the passes, without the checksums of a zip in the way.
#include <cstddef>
#include <cstdint>
#include <string>

#include "hydro/base/json.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/passes.h"
#include "hydro/pt2/exported_graph.h"
#include "hydro/pt2/manifest_reader.h"

namespace {

void read(const hydro::Json& json) {
  if (!json.is_object() || !json.contains("manifest") || !json.contains("graph")) {
    return;
  }
  auto manifest = hydro::pt2::read_manifest(json["manifest"]);
  if (!manifest) {
    return;
  }
  auto graph = hydro::pt2::read_exported_graph(json["graph"], "graph", manifest->ends);
  if (graph && hydro::ir::run_passes(*graph, manifest->passes)) {
    (void)hydro::ir::to_text(*graph);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  if (const auto json = hydro::parse_json(text, "H0242", "fuzz")) {
    read(*json);
  }
  return 0;
}
