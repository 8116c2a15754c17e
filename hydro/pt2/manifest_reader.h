// hydro/pt2/manifest_reader.h — extra/hydro_manifest.json, checked in itself.
#pragma once

#include <string>
#include <vector>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/ir/model.h"
#include "hydro/ir/passes.h"
#include "hydro/pt2/archive.h"
#include "hydro/pt2/exported_graph.h"

namespace hydro::pt2 {

struct ReadManifest {
  Manifest manifest;  // without selected_output and fingerprint
  std::vector<ir::StateEntry> state;
  GraphEnds ends;
  ir::PassContext passes;  // without the output
};

/// Errors: H0240 newer format; H0243 a field missing or wrong; H0246 dtype; H0250 schemas;
/// H0253 laws or ties that do
///         not fit their entries
[[nodiscard]] Result<ReadManifest> read_manifest(const Json& json);

/// The output that training uses: `wanted`, the only one, "logits" or "loss". Errors: H0247.
[[nodiscard]] Result<std::string> choose_output(const std::vector<std::string>& outputs,
                                                const std::string& wanted);

}  // namespace hydro::pt2
