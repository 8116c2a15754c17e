#include "hydro/job/schema.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/yaml.h"

namespace hydro::job {
namespace {

/// What other tools call a key of ours.
constexpr auto kOtherNames = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"learning_rate", "lr"},        {"wd", "weight_decay"},
    {"max_epochs", "epochs"},       {"num_epochs", "epochs"},
    {"max_steps", "steps"},         {"bs", "batch_size"},
    {"n_trials", "num_samples"},    {"max_trials", "num_samples"},
    {"direction", "mode"},          {"goal", "mode"},
    {"timeout", "time_budget"},     {"time_budget_s", "time_budget"},
    {"scaling_num", "scaling"},     {"fusion_limit", "fusion"},
    {"search_alg", "search"},       {"sampler", "search"},
    {"pruner", "scheduler"},        {"gradient_clip", "clip_norm"},
    {"max_grad_norm", "clip_norm"}, {"loss", "task"},
});

/// The known key that was meant, or empty.
std::string meant_by(std::string_view key, std::span<const std::string> known) {
  const auto* const other = std::ranges::find(
      kOtherNames, key, &std::pair<std::string_view, std::string_view>::first);
  if (other != kOtherNames.end() && std::ranges::find(known, other->second) != known.end()) {
    return std::string(other->second);
  }
  return nearest(key, known);
}

}  // namespace

Error not_in_this_version(const Reader& reader, const Node& node, std::string_view what) {
  return reader.error(node, "H0130", "`" + std::string(what) + "` is not in this version");
}

Result<void> check_keys(const Reader& reader,
                        const Node& map,
                        std::string_view section,
                        std::span<const std::string> known) {
  if (!map.is_map()) {
    return reader.wrong(map, section, "a mapping");
  }
  for (const Key& key : map.keys) {
    if (std::ranges::find(known, key.text) != known.end()) {
      continue;
    }
    const std::string meant = meant_by(key.text, known);
    return reader.error(key, "H0103", "unknown key `" + printable(key.text) + "`")
        .fix(meant.empty() ? "`" + std::string(section) + "` has the keys: " + join(known, ", ")
                           : "did you mean `" + meant + "`?");
  }
  return {};
}

Result<void> require_keys(const Reader& reader,
                          const Node& map,
                          std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (map.find(key) == nullptr) {
      return reader.error(map, "H0106", "`" + std::string(key) + "` is missing here");
    }
  }
  return {};
}

Node parse_default(std::string_view text) {
  auto parsed = parse_yaml({{.name = "default", .text = std::string(text)}}, 0);
  HYDRO_CHECK(parsed.has_value(), text);
  Node node = *std::move(parsed);
  std::vector<Node*> open{&node};
  while (!open.empty()) {
    Node* next = open.back();
    open.pop_back();
    next->place = {};
    for (Key& key : next->keys) {
      key.place = {};
    }
    for (Node& item : next->items) {
      open.push_back(&item);
    }
  }
  return node;
}

}  // namespace hydro::job
