#include "hydro/ir/model.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "hydro/base/result.h"

namespace hydro::ir {

namespace {

constexpr std::array<std::pair<LawKind, std::string_view>, 4> kLaws = {
    std::pair{LawKind::kUniform, std::string_view("uniform")},
    std::pair{LawKind::kNormal, std::string_view("normal")},
    std::pair{LawKind::kTruncatedNormal, std::string_view("truncated_normal")},
    std::pair{LawKind::kConstant, std::string_view("constant")},
};

}  // namespace

std::string_view law_name(LawKind kind) {
  const auto* found =
      std::ranges::find(kLaws, kind, &std::pair<LawKind, std::string_view>::first);
  HYDRO_CHECK(found != kLaws.end(), "law without a name");
  return found->second;
}

std::optional<LawKind> find_law(std::string_view name) {
  const auto* found =
      std::ranges::find(kLaws, name, &std::pair<LawKind, std::string_view>::second);
  return found == kLaws.end() ? std::nullopt : std::optional(found->first);
}

const StateEntry* Model::find_state(std::string_view name) const {
  const auto found = std::ranges::find(state, name, &StateEntry::name);
  return found == state.end() ? nullptr : &*found;
}

}  // namespace hydro::ir
