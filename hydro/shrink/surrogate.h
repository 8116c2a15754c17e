// hydro/shrink/surrogate.h — the same model S times narrower, and how its hyperparameters
// relate. Pure functions over graphs; no tensor is touched. Source: DESIGN "Surrogate",
// "Parametrization", "Exactness".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/model.h"

namespace hydro::shrink {

enum class Role : std::uint8_t { kInput, kHidden, kOutput, kVector, kOutputBias, kNone };
enum class Parametrization : std::uint8_t { kMup, kPaper, kStandard };

[[nodiscard]] std::string_view role_name(Role role);
[[nodiscard]] std::optional<Role> find_role(std::string_view name);

/// Dimensions that must have one size: every one of them shrinks alike.
struct WidthClass {
  std::string name;       // of its first dimension: "layer1.0.conv1.weight[0]"
  std::int64_t size = 0;  // target
  std::int64_t surrogate = 0;
  std::int64_t whole =
      0;  // surrogate size of the narrowest dimension that this is all or a factor of
  double ratio = 1;            // size / surrogate, exact: the nominal S is in no formula
  std::string pinned_because;  // empty: it shrinks. "user output", "kernel", "vocabulary", ...
  std::string held_because;    // empty, or why it shrinks less than S ("minimum width 2")
  std::int64_t cost = 0;       // parameters that the surrogate has only because an op pins this
};

/// "surrogate value = factor x target value"
struct Factors {
  double lr = 1;
  double decay = 1;
  double eps = 1;
};

struct ParameterPlan {
  std::string name;
  Role role = Role::kNone;
  bool readout = false;  // the readout or its bias: zeroed under mup and paper
  bool tied = false;     // an embedding that is also an output weight
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> surrogate_shape;
  double r_in = 1;
  double r_out = 1;
  double multiplier = 1;      // on the activations that enter this weight where it is an output
  std::vector<ir::Law> laws;  // the surrogate's, as are these
  std::vector<ir::ZeroBlock> zeros = {};
  Factors sgd;
  Factors adam;  // decay 1: L2 inside Adam has no valid factor, refuse it at S > 1
  Factors adamw;
};

struct Surrogate {
  ir::Model model;  // graphs rewritten, state shapes and laws the surrogate's
  std::vector<WidthClass> classes;
  std::vector<ParameterPlan> parameters;  // trainable entries (holders of ties), in state order
  std::vector<std::string> warnings;      // narrow classes, constants equal to a width, ...
  std::int64_t target_parameters = 0;     // trainable elements
  std::int64_t surrogate_parameters = 0;
};

/// Whether a surrogate that saves too little is an error; a coordinate check at a small S wants
/// it anyway.
enum class Saving : std::uint8_t { kRequired, kAny };

struct Options {
  double scaling = 8;  // S, at least 1
  std::int64_t min_width = 2;
  Parametrization parametrization = Parametrization::kMup;
  std::map<std::string, Role> roles = {};  // override by parameter name or shell pattern
  Saving saving = Saving::kRequired;
  bool zero_query = false;  // queries of attention start at zero, in surrogate and target
};

/// Shrinks both graphs together. At S=1 nothing changes but the zeroed readout (mup, paper).
///
/// An output weight's activations are multiplied by a node `aten.mul.Tensor(self, other=r_in)`
/// put in front of it in both graphs, at positions -1, -2, ...: the positions of all other
/// nodes stay.
///
/// What an op without a rule touches keeps its sizes, and is listed with the user's line.
/// Attention logits and other sums over a width are scaled (scales.h).
///
/// Requires: scaling at least 1 (BugError)
/// Errors: H0302 target/surrogate parameters under 2 with the table of what pins or holds each
/// layer, H0303 a role override that matches nothing, H0306 a weight in two roles, H0307 shapes
/// that contradict an op, H0308 a role override that contradicts the graph
[[nodiscard]] Result<Surrogate> shrink(const ir::Model& model, const Options& options);

}  // namespace hydro::shrink
