// The `resources:` section.
#include <array>
#include <span>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/schema.h"
#include "hydro/job/sections.h"

namespace hydro::job {
namespace {

Result<void> read_devices(const Reader& reader,
                          const Node& node,
                          const Row<ResourcesSection>& row,
                          ResourcesSection& /*out*/) {
  const bool single = node.is_scalar() && (node.text == "auto" || node.text == "cpu");
  if (single) {
    return {};
  }
  const bool cuda = node.is_sequence() || (node.is_scalar() && node.text.starts_with("cuda"));
  return cuda ? not_in_this_version(reader, node, "devices: cuda")
                    .fix("write devices: auto, or cpu")
              : reader.wrong(node, row.key, row.type);
}

constexpr auto kResourcesRows = std::to_array<Row<ResourcesSection>>({
    {"devices", "auto or cpu", "auto", "where trials run", &read_devices},
    {"cores",
     "an integer of at least 1",
     "",
     "how many cores; default all",
     &read_integer<&ResourcesSection::cores, 1, ResourcesSection>},
});

}  // namespace

Result<ResourcesSection> read_resources(const Reader& reader, const Node& node) {
  ResourcesSection resources;
  HYDRO_TRY_VOID(read_rows(reader,
                           node,
                           "resources",
                           std::span<const Row<ResourcesSection>>(kResourcesRows),
                           resources));
  return resources;
}

void complete_resources(Node& node) {
  fill_defaults(node, std::span<const Row<ResourcesSection>>(kResourcesRows));
}

void list_resources(std::vector<KnownKey>& keys) {
  list_rows("resources", std::span<const Row<ResourcesSection>>(kResourcesRows), keys);
}

}  // namespace hydro::job
