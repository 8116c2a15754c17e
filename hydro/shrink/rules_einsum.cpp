// The rule of einsum, for one and two operands without an ellipsis.
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

struct Equation {
  std::vector<std::string> operands;  // one letter a dimension
  std::string result;
};

bool repeats_a_letter(std::string_view letters) {
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (letters.find(letters[i], i + 1) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

/// "bqd,bkd->bqk"; empty for forms that the rule does not follow.
std::optional<Equation> read_equation(std::string text) {
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  if (arrow == std::string::npos || text.find('.') != std::string::npos) {
    return std::nullopt;
  }
  Equation equation{.operands = {""}, .result = text.substr(arrow + 2)};
  for (const char letter : text.substr(0, arrow)) {
    if (letter == ',') {
      equation.operands.emplace_back();
    } else {
      equation.operands.back() += letter;
    }
  }
  const bool repeated = std::ranges::any_of(equation.operands, repeats_a_letter);
  return repeated || equation.operands.size() > 2 ? std::nullopt : std::optional(equation);
}

using Letters = std::map<char, Dimension>;

bool holds(std::string_view letters, char letter) {
  return letters.find(letter) != std::string_view::npos;
}

/// The factors of those letters of `from` that `wanted` takes.
template <class Wanted>
Dimension factors(const Letters& letters, std::string_view from, const Wanted& wanted) {
  Dimension found;
  for (const char letter : from) {
    if (wanted(letter)) {
      const Dimension& own = letters.at(letter);
      found.insert(found.end(), own.begin(), own.end());
    }
  }
  return found;
}

/// Fails on an equation that does not fit the operands' ranks.
std::optional<Letters> label(Walk& walk,
                             const ir::Node& node,
                             const Equation& equation,
                             const std::vector<ir::ValueId>& tensors) {
  Letters letters;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Dimensions dims = walk.dims(tensors[i]);
    if (dims.size() != equation.operands[i].size()) {
      return std::nullopt;
    }
    for (std::size_t d = 0; d < dims.size(); ++d) {
      Dimension& known = letters[equation.operands[i][d]];
      if (known.empty()) {
        known = dims[d];
      } else if (!dims[d].empty()) {
        walk.unify(node, known, dims[d]);
      }
    }
  }
  return letters;
}

/// A weight's letters: those of the result are its outputs unless the activations have them
/// too, the others are summed over.
void note_weight(Walk& walk,
                 const ir::Node& node,
                 const Equation& equation,
                 const Letters& letters,
                 std::size_t weight,
                 const std::vector<ir::ValueId>& tensors) {
  const std::string& own = equation.operands[weight];
  const std::string& other = equation.operands[1 - weight];
  const auto in_result = [&](char letter) { return holds(equation.result, letter); };
  walk.pin(node,
           factors(letters, own, [&](char l) { return in_result(l) && holds(other, l); }),
           "number of matrices");
  walk.add_product(node,
                   {.weight = tensors[weight],
                    .activation = "tensors",
                    .place = 1 - weight,
                    .fan_in = factors(letters, own, [&](char l) { return !in_result(l); }),
                    .fan_out = factors(letters, own, [&](char l) {
                      return in_result(l) && !holds(other, l);
                    })});
}

void note_product(Walk& walk,
                  const ir::Node& node,
                  const Equation& equation,
                  const Letters& letters,
                  const std::vector<ir::ValueId>& tensors) {
  std::string all = equation.operands.front();
  for (const char letter : equation.operands.back()) {
    all += holds(all, letter) ? "" : std::string(1, letter);
  }
  const std::size_t weights = static_cast<std::size_t>(
      std::ranges::count_if(tensors, [&](ir::ValueId value) { return walk.is_weight(value); }));
  if (weights == tensors.size()) {
    walk.pin_all(node, "product of parameters");
  } else if (weights == 1) {
    note_weight(walk, node, equation, letters, walk.is_weight(tensors[0]) ? 0 : 1, tensors);
  } else {
    walk.add_contraction(
        node,
        tensors.size() > 1 ? Contraction::Kind::kProduct : Contraction::Kind::kSum,
        factors(letters, all, [&](char l) { return !holds(equation.result, l); }));
  }
}

}  // namespace

Result<void> einsum_rule(Walk& walk, const ir::Node& node) {
  const std::optional<Equation> equation = read_equation(node.text("equation"));
  const auto* tensors = std::get_if<std::vector<ir::ValueId>>(&node.argument("tensors"));
  if (!equation || tensors == nullptr || tensors->size() != equation->operands.size()) {
    walk.pin_all(node, "no width rule");
    return {};
  }
  const std::optional<Letters> letters = label(walk, node, *equation, *tensors);
  if (!letters) {
    return contradiction(node, "the equation does not fit its operands");
  }
  Dimensions out;
  for (const char letter : equation->result) {
    const auto found = letters->find(letter);
    if (found == letters->end()) {
      return contradiction(node, "the equation's result has a letter of no operand");
    }
    out.push_back(found->second);
  }
  walk.set_outputs(node, out);
  note_product(walk, node, *equation, *letters, *tensors);
  return {};
}

}  // namespace hydro::shrink
