// hydro/job/distributions.h — the search space inside the job's tree: a mapping with one key
// that is a distribution's name is a distribution. Finding them gives the Space, putting a
// configuration's values in their place gives a tree without any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/node.h"
#include "hydro/search/space.h"

namespace hydro::job {

struct Reader;

/// Where distributions may stand below a path: anything under `train`, finite options under
/// `model.kwargs`.
enum class Allowed : std::uint8_t { kAll, kFinite };

/// A parameter and where the file has it.
struct FoundParameter {
  search::Parameter parameter;
  const Node* node = nullptr;  // the distribution
};

/// {uniform: [0, 1]}; under model.kwargs ({..., Allowed::kFinite}) only with a list inside,
/// since a mapping {choice: 3} may be the callable's own.
[[nodiscard]] bool is_distribution(const Node& node, Allowed allowed);

/// A scalar as a value: true, 128, 0.1 or text.
[[nodiscard]] search::Value written_value(const Node& scalar);

/// Appends every distribution below `node`, in the file's order.
///
/// Errors: H0110 malformed, H0111 not finite where it must be, H0130 branches within branches,
/// H0701 to H0705
[[nodiscard]] Result<void> find_parameters(const Reader& reader,
                                           const Node& node,
                                           const std::string& path,
                                           Allowed allowed,
                                           std::vector<FoundParameter>& found);

/// `node` with every distribution replaced by the configuration's value, which keeps the place
/// of its option.
///
/// Requires: `config` has every active parameter below `path` (BugError)
[[nodiscard]] Node substitute(const Node& node,
                              const std::string& path,
                              const search::Config& config,
                              Allowed allowed);

/// The fixed short names: "train.optimizer.lr" -> "lr"; any other path is its own name.
[[nodiscard]] std::string short_name(const std::string& path);

/// What is wrong with a mapping that looks like a distribution where none can stand; nothing
/// when it does not.
[[nodiscard]] std::optional<Error> misplaced_distribution(const Reader& reader,
                                                          const Node& node,
                                                          std::string_view key);

}  // namespace hydro::job
