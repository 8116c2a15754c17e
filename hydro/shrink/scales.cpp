#include "hydro/shrink/scales.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/text.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/scale_sites.h"
#include "hydro/shrink/sizes.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

namespace {

using Power = double (*)(double);

/// The ways in which programs write these powers of a size; their last digits may differ.
constexpr std::array<Power, 6> kPowers = {
    +[](double d) { return 1 / std::sqrt(d); },
    +[](double d) { return std::pow(d, -0.5); },
    +[](double d) { return std::sqrt(1 / d); },
    +[](double d) { return 1 / d; },
    +[](double d) { return std::pow(d, -0.25); },
    +[](double d) { return 1 / std::sqrt(std::sqrt(d)); }};

double apply(Power power, ScaleSite::Form form, double size) {
  if (form == ScaleSite::Form::kFactor) {
    return power(size);
  }
  // Divisors are written as sqrt(d), not as 1 / (1 / sqrt(d)).
  return power == kPowers[0] ? std::sqrt(size) : power == kPowers[3] ? size : 1 / power(size);
}

/// The same power of the small size; the site's own value when it is none.
double recomputed(const ScaleSite& site, double target, double surrogate) {
  const auto matches = [&](double tolerance) {
    return std::ranges::find_if(kPowers, [&](Power power) {
      const double value = apply(power, site.form, target);
      return std::abs(value - site.value) <= tolerance * value;
    });
  };
  const auto* found = matches(0);
  found = found == kPowers.end() ? matches(1e-6) : found;  // a constant in single precision
  return found == kPowers.end() ? site.value : apply(*found, site.form, surrogate);
}

double times(const ScaleSite& site, double factor) {
  return site.form == ScaleSite::Form::kFactor ? site.value * factor : site.value / factor;
}

class Planner {
 public:
  Planner(const ir::Model& model,
          Side side,
          const Analysis& analysis,
          const Sizes& sizes,
          Parametrization parametrization)
      : graph_(graph_of(model, side)),
        users_(ir::users(graph_)),
        side_(side),
        analysis_(analysis),
        sizes_(sizes),
        recomputes_(parametrization == Parametrization::kStandard) {}

  ScalePlan run() {
    for (const Attention& attention : analysis_.attentions) {
      if (attention.side == side_) {
        plan_attention(attention);
      }
    }
    for (const Contraction& contraction : analysis_.contractions) {
      if (contraction.side == side_ && !recomputes_) {
        plan_sum(contraction);
      }
    }
    return std::move(plan_);
  }

 private:
  void plan_attention(const Attention& attention) {
    const std::vector<ScaleSite> sites = scale_sites(graph_, users_, attention);
    for (const ScaleSite& site : sites) {
      plan_.known.insert(site.node);
    }
    const double ratio = sizes_.ratio(attention.query_dim);
    if (ratio == 1) {
      return;
    }
    if (recomputes_) {
      recompute(attention, sites);
    } else if (attention.softmax == ir::kNoNode) {
      scale_fused(attention, ratio);
    } else {
      scale_written_out(attention, sites, ratio);
    }
  }

  void recompute(const Attention& attention, const std::vector<ScaleSite>& sites) {
    const auto target = static_cast<double>(sizes_.target(attention.query_dim));
    const auto surrogate = static_cast<double>(sizes_.of(attention.query_dim));
    for (const ScaleSite& site : sites) {
      const double value = recomputed(site, target, surrogate);
      if (value != site.value) {
        set(site.node, site.argument, value);
      }
    }
  }

  void scale_fused(const Attention& attention, double ratio) {
    const ir::Node& node = graph_.node(attention.node);
    const bool given = !std::holds_alternative<ir::None>(node.argument("scale"));
    const double own =
        given ? node.number("scale")
              : 1 / std::sqrt(static_cast<double>(sizes_.target(attention.query_dim)));
    set(attention.node, "scale", own * ratio);
  }

  void scale_written_out(const Attention& attention,
                         const std::vector<ScaleSite>& sites,
                         double ratio) {
    const auto site =
        std::ranges::find_if(sites, [](const ScaleSite& s) { return !s.after_sum; });
    if (site == sites.end()) {
      plan_.multipliers.results[attention.node] = ratio;
    } else {
      set(site->node, site->argument, times(*site, ratio));
    }
  }

  void plan_sum(const Contraction& contraction) {
    const ir::Node& node = graph_.node(contraction.node);
    const ir::Value& result = graph_.value(node.outputs.at(0));
    const double ratio = sizes_.ratio(contraction.over);
    if (ratio == 1 || !ir::is_floating(result.tensor().dtype)) {
      return;
    }
    plan_.multipliers.results[contraction.node] = ratio;
    plan_.notices.push_back(node.describe() + ": sums over a width of " +
                            std::to_string(sizes_.target(contraction.over)) + " -> " +
                            std::to_string(sizes_.of(contraction.over)) +
                            " entries; multiplied by " + plain_number(ratio));
  }

  void set(ir::NodeId node, const std::string& argument, double value) {
    plan_.constants.push_back({.node = node, .argument = argument, .value = value});
  }

  const ir::Graph& graph_;
  std::vector<std::vector<ir::NodeId>> users_;
  Side side_;
  const Analysis& analysis_;
  const Sizes& sizes_;
  bool recomputes_;
  ScalePlan plan_;
};

}  // namespace

ScalePlan plan_scales(const ir::Model& model,
                      Side side,
                      const Analysis& analysis,
                      const Sizes& sizes,
                      Parametrization parametrization) {
  return Planner(model, side, analysis, sizes, parametrization).run();
}

void set_constants(ir::Graph& graph, const std::vector<NewConstant>& constants) {
  for (const NewConstant& constant : constants) {
    graph.node(constant.node).argument(constant.argument) = constant.value;
  }
}

}  // namespace hydro::shrink
