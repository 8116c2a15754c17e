// hydro/shrink/testing.h — models from text, and surrogates as text.
//
// A case: option lines, law lines, the train graph, and the eval graph (or none: the same with
// batch norm in eval mode is not derived, the train graph stands for both).
//
//   scaling 8
//   min_width 2
//   parametrization mup
//   role head.weight output
//   law fc.weight uniform -0.1 0.1
//   data pos 1 2 3            a buffer's first elements, others 0
//   frozen fc.weight
//   zero_query
//   graph { ... }
//   graph { ... }
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/text.h"
#include "hydro/ir/testing.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

struct Case {
  ir::Model model;
  Options options;
};

namespace testing_detail {

inline ir::Law law_of(std::istringstream& words, std::int64_t rows) {
  std::string kind;
  double first = 0;
  double second = 0;
  words >> kind >> first >> second;
  ir::Law law{.row_begin = 0, .row_end = rows, .kind = *ir::find_law(kind)};
  if (law.kind == ir::LawKind::kUniform) {
    law.low = first;
    law.high = second;
  } else if (law.kind == ir::LawKind::kConstant) {
    law.value = first;
  } else {
    law.mean = first;
    law.std = second;
  }
  return law;
}

inline std::int64_t elements(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    count *= size;
  }
  return count;
}

/// Parameters start normal(0, 0.5), buffers at zero.
inline void add_state(const ir::Graph& graph, ir::Model& model) {
  for (const ir::Input& input : graph.inputs) {
    const bool state =
        input.kind == ir::InputKind::kParameter || input.kind == ir::InputKind::kBuffer;
    if (!state || model.find_state(input.name) != nullptr) {
      continue;
    }
    ir::StateEntry entry;
    entry.name = input.name;
    entry.dtype = graph.value(input.value).tensor().dtype;
    entry.index = static_cast<std::int64_t>(model.state.size());
    for (const ir::Dim& dim : graph.value(input.value).tensor().shape) {
      entry.shape.push_back(dim.size);
    }
    if (input.kind == ir::InputKind::kParameter) {
      const std::int64_t rows = entry.shape.empty() ? 1 : entry.shape.front();
      entry.laws = {{.row_begin = 0,
                     .row_end = rows,
                     .kind = ir::LawKind::kNormal,
                     .mean = 0,
                     .std = 0.5}};
    } else {
      entry.kind = ir::StateKind::kBuffer;
      const std::int64_t bytes = elements(entry.shape) * ir::dtype_size(entry.dtype);
      model.tensors[entry.name] = {.dtype = entry.dtype,
                                   .shape = entry.shape,
                                   .bytes = Bytes(static_cast<std::size_t>(bytes))};
    }
    model.state.push_back(std::move(entry));
  }
}

inline ir::StateEntry& entry_of(ir::Model& model, const std::string& name) {
  for (ir::StateEntry& entry : model.state) {
    if (entry.name == name) {
      return entry;
    }
  }
  HYDRO_CHECK(false, "the case names no state " + name);
}

inline void apply_line(const std::string& line, Case& made) {
  static const std::map<std::string, Parametrization> parametrizations = {
      {"mup", Parametrization::kMup},
      {"paper", Parametrization::kPaper},
      {"standard", Parametrization::kStandard}};
  std::istringstream words(line);
  std::string key;
  std::string name;
  words >> key >> name;
  if (key == "scaling") {
    made.options.scaling = std::stod(name);
  } else if (key == "min_width") {
    made.options.min_width = std::stoll(name);
  } else if (key == "parametrization") {
    made.options.parametrization = parametrizations.at(name);
  } else if (key == "zero_query") {
    made.options.zero_query = true;
  } else if (key == "role") {
    words >> key;
    made.options.roles[name] = find_role(key).value();
  } else if (key == "law") {
    ir::StateEntry& entry = entry_of(made.model, name);
    entry.laws = {law_of(words, entry.shape.front())};
  } else if (key == "frozen") {
    entry_of(made.model, name).kind = ir::StateKind::kFrozen;
  } else if (key == "data") {
    std::vector<float> numbers{std::istream_iterator<float>(words), {}};
    std::memcpy(made.model.tensors.at(name).bytes.data(),
                numbers.data(),
                numbers.size() * sizeof(float));
  } else {
    HYDRO_CHECK(key.empty() || key.front() == '#', "line of a case: " + line);
  }
}

}  // namespace testing_detail

/// The sizes of the atoms that a dimension is made of.
inline std::vector<std::int64_t> sizes_of(const Atoms& atoms, const Dimension& dimension) {
  std::vector<std::int64_t> sizes;
  for (const AtomId leaf : atoms.leaves(dimension)) {
    sizes.push_back(atoms.size(leaf));
  }
  return sizes;
}

/// Fails the test where a graph cannot be read.
inline Case case_of(const std::string& text) {
  Case made;
  const std::size_t first = text.find("graph {");
  const std::size_t second = text.find("\ngraph {", first);
  made.model.train = ir::graph_of(std::string_view(text).substr(first, second - first));
  made.model.eval = second == std::string::npos
                        ? made.model.train
                        : ir::graph_of(std::string_view(text).substr(second));
  testing_detail::add_state(made.model.train, made.model);
  testing_detail::add_state(made.model.eval, made.model);
  std::istringstream lines(text.substr(0, first));
  for (std::string line; std::getline(lines, line);) {
    testing_detail::apply_line(line, made);
  }
  return made;
}

namespace testing_detail {

inline std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> sizes;
  for (const std::int64_t size : shape) {
    sizes.push_back(std::to_string(size));
  }
  return "[" + join(sizes, ", ") + "]";
}

inline std::string law_text(const ir::Law& law) {
  const auto number = [](double value) { return plain_number(value); };
  std::string text = std::string(ir::law_name(law.kind)) + "(";
  if (law.kind == ir::LawKind::kUniform) {
    text += number(law.low) + ", " + number(law.high);
  } else if (law.kind == ir::LawKind::kConstant) {
    text += number(law.value);
  } else {
    text += number(law.mean) + ", " + number(law.std);
  }
  return text + ")";
}

inline std::string factors_text(const Factors& factors) {
  return plain_number(factors.lr) + "/" + plain_number(factors.decay) + "/" +
         plain_number(factors.eps);
}

}  // namespace testing_detail

/// Classes, plan and warnings, one line each.
inline std::string plan_text(const Surrogate& surrogate) {
  namespace detail = testing_detail;
  std::string text = "parameters " + std::to_string(surrogate.target_parameters) + " -> " +
                     std::to_string(surrogate.surrogate_parameters) + "\n";
  for (const WidthClass& width : surrogate.classes) {
    text += "width " + width.name + " " + std::to_string(width.size) + " -> " +
            std::to_string(width.surrogate) + " ratio " + plain_number(width.ratio);
    text += width.pinned_because.empty() ? "" : " pinned: " + width.pinned_because;
    text += width.held_because.empty() ? "" : " held: " + width.held_because;
    text += "\n";
  }
  for (const ParameterPlan& plan : surrogate.parameters) {
    text += plan.name + " " + std::string(role_name(plan.role)) +
            (plan.readout ? " readout" : "") + (plan.tied ? " tied" : "") + " " +
            detail::shape_text(plan.shape) + " -> " + detail::shape_text(plan.surrogate_shape) +
            " r_in " + plain_number(plan.r_in) + " r_out " + plain_number(plan.r_out) + " x" +
            plain_number(plan.multiplier) + " sgd " + detail::factors_text(plan.sgd) +
            " adam " + detail::factors_text(plan.adam) + " adamw " +
            detail::factors_text(plan.adamw);
    for (const ir::Law& law : plan.laws) {
      text += " " + detail::law_text(law);
    }
    for (const ir::ZeroBlock& zero : plan.zeros) {
      text += " zero " + std::to_string(zero.dim) + "[" + std::to_string(zero.begin) + ":" +
              std::to_string(zero.end) + "]";
    }
    text += "\n";
  }
  for (const std::string& warning : surrogate.warnings) {
    text += "warning: " + warning + "\n";
  }
  return text;
}

}  // namespace hydro::shrink
