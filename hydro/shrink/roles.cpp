#include "hydro/shrink/roles.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/readouts.h"
#include "hydro/shrink/sizes.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

namespace {

struct RoleName {
  Role role;
  std::string_view name;
};

constexpr std::array kRoleNames = {
    RoleName{.role = Role::kInput, .name = "input"},
    RoleName{.role = Role::kHidden, .name = "hidden"},
    RoleName{.role = Role::kOutput, .name = "output"},
    RoleName{.role = Role::kVector, .name = "vector"},
    RoleName{.role = Role::kOutputBias, .name = "output_bias"},
    RoleName{.role = Role::kNone, .name = "none"},
};

/// Which of a weight's fans are widths.
struct Fans {
  bool in = false;
  bool out = false;
  bool operator==(const Fans&) const = default;
};

/// What a role says of them; empty: nothing.
std::optional<Fans> fans_of(Role role) {
  switch (role) {
    case Role::kInput:
    case Role::kVector:
      return Fans{.in = false, .out = true};
    case Role::kHidden:
      return Fans{.in = true, .out = true};
    case Role::kOutput:
      return Fans{.in = true, .out = false};
    case Role::kOutputBias:
      return Fans{};
    case Role::kNone:
      break;
  }
  return std::nullopt;
}

/// A parameter that meets activations element by element.
Role other_role(const Dimensions& dims, const Atoms& atoms, const Sizes& sizes) {
  std::size_t widths = 0;
  std::size_t long_dims = 0;
  for (const Dimension& dimension : dims) {
    widths += sizes.scales(dimension) ? 1 : 0;
    long_dims += atoms.size(dimension) > 1 ? 1 : 0;
  }
  if (widths == 0) {
    return Role::kNone;
  }
  return widths == 1 && long_dims > 1 ? Role::kInput : Role::kVector;
}

double ratio_of(const Dimensions& dims, const Sizes& sizes) {
  double ratio = 1;
  for (const Dimension& dimension : dims) {
    ratio *= sizes.ratio(dimension);
  }
  return ratio;
}

class Planner {
 public:
  Planner(const ir::Model& model,
          const Analysis& analysis,
          const Sizes& sizes,
          const Options& options)
      : model_(model),
        analysis_(analysis),
        sizes_(sizes),
        options_(options),
        last_train_(readout_nodes(model, Side::kTrain, analysis)),
        last_eval_(readout_nodes(model, Side::kEval, analysis)) {}

  Result<std::vector<ParameterPlan>> run() {
    HYDRO_TRY_VOID(check_overrides());
    std::vector<ParameterPlan> plans;
    for (const ir::StateEntry& entry : model_.state) {
      if (entry.kind == ir::StateKind::kParameter && entry.tie.empty()) {
        HYDRO_TRY(ParameterPlan plan, plan_weight(entry));
        plans.push_back(std::move(plan));
      }
    }
    for (ParameterPlan& plan : plans) {
      plan_bias(plan, plans);
    }
    return plans;
  }

 private:
  [[nodiscard]] Result<void> check_overrides() const {
    std::vector<std::string> names;
    for (const ir::StateEntry& entry : model_.state) {
      if (entry.kind == ir::StateKind::kParameter && entry.tie.empty()) {
        names.push_back(entry.name);
      }
    }
    for (const auto& [pattern, role] : options_.roles) {
      const auto matches = [&, &wanted = pattern](const std::string& name) {
        return matches_pattern(wanted, name);
      };
      if (std::ranges::none_of(names, matches)) {
        const std::string near = nearest(pattern, names);
        return make_error("H0303", "no parameter matches the role override `" + pattern + "`")
            .fix(near.empty() ? "use a name or pattern of the list that `hydro check` prints"
                              : "did you mean `" + near + "`?");
      }
    }
    return {};
  }

  [[nodiscard]] std::optional<Role> overridden(const std::string& name) const {
    const auto exact = options_.roles.find(name);
    if (exact != options_.roles.end()) {
      return exact->second;
    }
    for (const auto& [pattern, role] : options_.roles) {
      if (matches_pattern(pattern, name)) {
        return role;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] bool is_last(const WeightUse& use) const {
    return (use.side == Side::kTrain ? last_train_ : last_eval_).contains(use.node);
  }

  [[nodiscard]] Result<ParameterPlan> plan_weight(const ir::StateEntry& entry) const {
    const Dimensions& dims = analysis_.state.at(entry.name);
    ParameterPlan plan;
    plan.name = entry.name;
    plan.shape = entry.shape;
    for (const Dimension& dimension : dims) {
      plan.surrogate_shape.push_back(sizes_.of(dimension));
    }
    plan.role = other_role(dims, analysis_.atoms, sizes_);
    plan.r_out = ratio_of(dims, sizes_);
    HYDRO_TRY_VOID(plan_uses(plan));
    const std::optional<Role> wanted = overridden(entry.name);
    if (wanted && !fits(*wanted, plan)) {
      return contradicts(*wanted, plan);
    }
    plan.role = wanted.value_or(plan.role);
    plan.tied = plan.tied && plan.role == Role::kInput;
    plan.readout = plan.role == Role::kOutput && is_last(entry.name);
    return plan;
  }

  /// The role of a weight is that of its uses; an embedding that is also the output weight is
  /// an input weight whose second use has the output's multiplier.
  [[nodiscard]] Result<void> plan_uses(ParameterPlan& plan) const {
    const WeightUse* first = nullptr;
    for (const WeightUse& use : analysis_.uses) {
      if (use.weight != plan.name) {
        continue;
      }
      if (first == nullptr) {
        first = &use;
      }
      const Role one = role_of(*first, sizes_);
      const Role other = role_of(use, sizes_);
      const bool ties = (one == Role::kInput && other == Role::kOutput) ||
                        (one == Role::kOutput && other == Role::kInput);
      if (one != other && !ties && !overridden(plan.name)) {
        return two_roles(*first, use);
      }
      plan.tied = plan.tied || ties;
      first = ties && other == Role::kInput ? &use : first;
    }
    if (first != nullptr) {
      plan.role = role_of(*first, sizes_);
      plan.r_in = sizes_.ratio(first->fan_in);
      plan.r_out = sizes_.ratio(first->fan_out);
    }
    return {};
  }

  [[nodiscard]] bool is_last(const std::string& weight) const {
    return std::ranges::any_of(analysis_.uses, [&](const WeightUse& use) {
      return use.weight == weight && is_last(use);
    });
  }

  [[nodiscard]] static bool fits(Role wanted, const ParameterPlan& plan) {
    const std::optional<Fans> named = fans_of(wanted);
    const std::optional<Fans> found = fans_of(plan.role);
    return !named || *named == found.value_or(Fans{}) || (plan.tied && wanted == Role::kOutput);
  }

  [[nodiscard]] static Error contradicts(Role wanted, const ParameterPlan& plan) {
    const Fans found = fans_of(plan.role).value_or(Fans{});
    const auto said = [](bool width) { return width ? " is a width" : " is none"; };
    return make_error(
               "H0308",
               "`" + plan.name + "` cannot have the role " + std::string(role_name(wanted)))
        .because("in the graph it is " + std::string(role_name(plan.role)) + ": its fan-in" +
                 said(found.in) + ", its fan-out" + said(found.out));
  }

  [[nodiscard]] Error two_roles(const WeightUse& first, const WeightUse& second) const {
    const auto node = [&](const WeightUse& use) {
      return graph_of(model_, use.side).node(use.node).describe();
    };
    return make_error("H0306", "`" + first.weight + "` is used in two roles")
        .at(graph_of(model_, second.side).node(second.node).source.place)
        .because(std::string(role_name(role_of(first, sizes_))) + " at " + node(first) + ", " +
                 std::string(role_name(role_of(second, sizes_))) + " at " + node(second));
  }

  /// A bias belongs to its weight: an output weight's is an output bias, a readout's starts at
  /// zero.
  void plan_bias(ParameterPlan& plan, const std::vector<ParameterPlan>& plans) const {
    for (const WeightUse& use : analysis_.uses) {
      if (use.bias != plan.name) {
        continue;
      }
      const auto weight = std::ranges::find(plans, use.weight, &ParameterPlan::name);
      const bool of_output = weight != plans.end() && role_of(use, sizes_) == Role::kOutput &&
                             (weight->role == Role::kOutput || weight->tied);
      if (of_output && plan.role == Role::kNone && !overridden(plan.name)) {
        plan.role = Role::kOutputBias;
      }
      plan.readout = plan.role == Role::kOutputBias && of_output && weight->readout;
    }
  }

  const ir::Model& model_;
  const Analysis& analysis_;
  const Sizes& sizes_;
  const Options& options_;
  std::set<ir::NodeId> last_train_;
  std::set<ir::NodeId> last_eval_;
};

}  // namespace

Role role_of(const WeightUse& use, const Sizes& sizes) {
  const bool in = sizes.scales(use.fan_in);
  const bool out = sizes.scales(use.fan_out);
  if (in) {
    return out ? Role::kHidden : Role::kOutput;
  }
  if (!out) {
    return Role::kNone;
  }
  // Channels per group stay and groups follow the width: no sum over the width, as in a bias.
  return sizes.scales(use.groups) ? Role::kVector : Role::kInput;
}

std::string_view role_name(Role role) {
  const auto* found = std::ranges::find(kRoleNames, role, &RoleName::role);
  HYDRO_CHECK(found != kRoleNames.end(), "role without a name");
  return found->name;
}

std::optional<Role> find_role(std::string_view name) {
  const auto* found = std::ranges::find(kRoleNames, name, &RoleName::name);
  return found == kRoleNames.end() ? std::nullopt : std::optional(found->role);
}

Result<std::vector<ParameterPlan>> plan_roles(const ir::Model& model,
                                              const Analysis& analysis,
                                              const Sizes& sizes,
                                              const Options& options) {
  return Planner(model, analysis, sizes, options).run();
}

}  // namespace hydro::shrink
