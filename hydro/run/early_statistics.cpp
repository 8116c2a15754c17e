#include "hydro/run/early_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/text.h"
#include "hydro/data/dataset.h"
#include "hydro/ir/graph.h"
#include "hydro/job/job.h"
#include "hydro/run/material.h"

namespace hydro::run {
namespace {

constexpr double kSettled = 3;  // steps x momentum

/// The least of all batch norms that keep a running mean; without a momentum it is right at
/// once.
std::optional<double> least_momentum(const ir::Graph& train) {
  std::optional<double> least;
  for (const ir::Node& node : train.nodes()) {
    if (node.op != "hydro.batch_norm") {
      continue;
    }
    const auto* momentum = std::get_if<double>(&node.argument("momentum"));
    if (momentum != nullptr && *momentum > 0) {
      least = std::min(least.value_or(1), *momentum);
    }
  }
  return least;
}

}  // namespace

std::optional<std::string> early_statistics(const ir::Graph& train, std::int64_t steps) {
  const std::optional<double> momentum = least_momentum(train);
  if (!momentum || static_cast<double>(steps) * *momentum >= kSettled) {
    return std::nullopt;
  }
  const double left = std::pow(1 - *momentum, static_cast<double>(steps));
  return "the first report comes after " + std::to_string(steps) +
         " steps, when running statistics of batch norm are still " +
         std::to_string(std::lround(100 * left)) + " % what they started as (momentum " +
         plain_number(*momentum) + "): values measured then tell little; evaluate after " +
         std::to_string(std::lround(std::ceil(kSettled / *momentum))) +
         " steps or more, or give the norms a larger momentum";
}

std::vector<std::string> early_reports(const job::Job& job, const Material& material) {
  const std::int64_t steps = job::first_report(job, material.loaders.training->dataset().size);
  std::vector<std::string> warnings;
  for (const Architecture& architecture : material.architectures) {
    std::optional<std::string> warning = early_statistics(architecture.model->train, steps);
    if (warning && std::ranges::find(warnings, *warning) == warnings.end()) {
      warnings.push_back(*std::move(warning));
    }
  }
  return warnings;
}

}  // namespace hydro::run
