#include "hydro/job/distributions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/yaml.h"
#include "hydro/search/space.h"

namespace hydro::job {
namespace {

using search::Choice;
using search::Config;
using search::Distribution;
using search::Value;

// ---- One distribution ----

struct Description;

/// How a distribution is written. One row each.
struct Form {
  std::string_view name;
  std::string_view arguments;  // "[low, high]"
  bool lists_options = false;
  Result<Distribution> (*read)(const Description&, const Form&);
};

std::span<const Form> forms();

const Form* find_form(std::string_view name) {
  const auto row = std::ranges::find(forms(), name, &Form::name);
  return row == forms().end() ? nullptr : &*row;
}

std::vector<std::string> distribution_names() {
  std::vector<std::string> names;
  for (const Form& form : forms()) {
    names.emplace_back(form.name);
  }
  return names;
}

/// One of several: an option that is a list, a mapping or nothing makes them branches, chosen
/// by their number.
bool has_branches(const Node& options) {
  return !std::ranges::all_of(options.items, &Node::is_scalar);
}

struct Description {
  const Reader& reader;
  const Node& node;  // the distribution's mapping
  const std::string& path;

  [[nodiscard]] const std::string& name() const { return node.keys[0].text; }

  [[nodiscard]] const Node& arguments() const { return node.items[0]; }

  [[nodiscard]] Error malformed(const Node& at, const std::string& wanted) const {
    Error fault = reader.error(
        at,
        "H0110",
        "`" + path + "`: " + name() + " takes " + wanted + ", not " + describe(at));
    return std::move(fault).fix(
        quotes_remedy(at).value_or("write {" + name() + ": " + wanted + "}"));
  }
};

template <class Number>
using Parse = std::optional<Number> (*)(const Node&);

/// A list of as many numbers as `form.arguments` has words.
template <class Number>
Result<std::vector<Number>> read_numbers(const Description& it,
                                         const Form& form,
                                         Parse<Number> parse) {
  const Node& arguments = it.arguments();
  const std::string wanted(form.arguments);
  const auto count = static_cast<std::size_t>(std::ranges::count(wanted, ',')) + 1;
  if (!arguments.is_sequence() || arguments.items.size() != count) {
    return it.malformed(arguments, wanted);
  }
  std::vector<Number> numbers;
  for (const Node& item : arguments.items) {
    const auto number = parse(item);
    if (!number) {
      return it.malformed(item, wanted);
    }
    numbers.push_back(*number);
  }
  return numbers;
}

/// A struct whose two or three members are the arguments.
template <class D, class Number>
Distribution made_of(const std::vector<Number>& arguments) {
  if constexpr (requires { D{arguments[0], arguments[1], arguments[2]}; }) {
    return D{arguments[0], arguments[1], arguments[2]};
  } else {
    return D{arguments[0], arguments[1]};
  }
}

template <class D>
Result<Distribution> read_reals(const Description& it, const Form& form) {
  HYDRO_TRY(const auto numbers, read_numbers<double>(it, form, &as_number));
  return made_of<D>(numbers);
}

template <class D>
Result<Distribution> read_integers(const Description& it, const Form& form) {
  HYDRO_TRY(const auto numbers, read_numbers<std::int64_t>(it, form, &as_exact_integer));
  return made_of<D>(numbers);
}

template <class D>
Result<Distribution> read_options(const Description& it, const Form& form) {
  const Node& options = it.arguments();
  if (!options.is_sequence()) {
    return it.malformed(options, std::string(form.arguments));
  }
  std::vector<Value> values;
  std::set<std::string> seen;
  const bool branches = has_branches(options);
  for (const Node& option : options.items) {
    if (is_distribution(option, Allowed::kAll)) {
      return it.reader
          .error(
              option, "H0110", "`" + it.path + "`: an option cannot itself be a distribution")
          .fix("list the values, or use one distribution");
    }
    if (branches && !seen.insert(to_flow(option)).second) {
      return it.reader.error(option, "H0705", "`" + it.path + "`: an option is repeated");
    }
    values.push_back(branches ? Value(static_cast<std::int64_t>(values.size()))
                              : written_value(option));
  }
  return Distribution(D{std::move(values)});
}

template <class D>
constexpr Form reals(std::string_view arguments) {
  return {.name = D::kName, .arguments = arguments, .read = &read_reals<D>};
}

template <class D>
constexpr Form integers(std::string_view arguments) {
  return {.name = D::kName, .arguments = arguments, .read = &read_integers<D>};
}

template <class D>
constexpr Form options() {
  return {.name = D::kName,
          .arguments = "a list of options",
          .lists_options = true,
          .read = &read_options<D>};
}

constexpr auto kForms = std::to_array<Form>({
    reals<search::Uniform>("[low, high]"),
    reals<search::LogUniform>("[low, high]"),
    reals<search::QUniform>("[low, high, step]"),
    reals<search::QLogUniform>("[low, high, step]"),
    integers<search::RandInt>("[low, high]"),
    integers<search::QRandInt>("[low, high, step]"),
    integers<search::LogRandInt>("[low, high]"),
    integers<search::QLogRandInt>("[low, high, step]"),
    integers<search::Int>("[low, high]"),
    reals<search::RandN>("[mean, deviation]"),
    reals<search::QRandN>("[mean, deviation, step]"),
    options<search::Choice>(),
    options<search::Ordinal>(),
    options<search::Grid>(),
});

std::span<const Form> forms() {
  return kForms;
}

/// The room search knows no places: its error gets the parameter's name and the distribution's
/// place.
Result<Distribution> read_checked(const Description& it) {
  const Form* form = find_form(it.name());
  HYDRO_CHECK(form != nullptr, it.name());
  HYDRO_TRY(Distribution distribution, form->read(it, *form));
  if (auto checked = search::check_distribution(distribution); !checked) {
    const Error& plain = checked.error();
    Error placed =
        it.reader.error(it.arguments(), plain.id, "`" + it.path + "`: " + plain.what);
    placed.why = plain.why;
    placed.remedy = plain.remedy;
    return placed;
  }
  return distribution;
}

// ---- All of them ----

std::string path_of_item(const Node& node, std::size_t item, const std::string& path) {
  return path + '.' + (node.is_map() ? node.keys[item].text : std::to_string(item));
}

class Finder {
 public:
  Finder(const Reader& reader, Allowed allowed, std::vector<FoundParameter>& found)
      : reader_(reader), allowed_(allowed), found_(found) {}

  // NOLINTNEXTLINE(misc-no-recursion): trees are at most 32 levels deep
  Result<void> walk(const Node& node, const std::string& path) {
    if (is_distribution(node, allowed_)) {
      return take(node, path);
    }
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      HYDRO_TRY_VOID(walk(node.items[i], path_of_item(node, i, path)));
    }
    return {};
  }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): trees are at most 32 levels deep
  Result<void> take(const Node& node, const std::string& path) {
    const Description description{.reader = reader_, .node = node, .path = path};
    HYDRO_TRY(Distribution distribution, read_checked(description));
    HYDRO_TRY_VOID(check_allowed(description, distribution));
    found_.push_back({.parameter = {.path = path,
                                    .name = short_name(path),
                                    .distribution = std::move(distribution),
                                    .condition = condition_},
                      .node = &node});
    return has_options(found_.back()) ? walk_branches(node.items[0], path) : Result<void>();
  }

  static bool has_options(const FoundParameter& it) {
    return search::has_options(it.parameter.distribution);
  }

  Result<void> check_allowed(const Description& it, const Distribution& distribution) const {
    constexpr std::int64_t kMostModels = 1000;
    const std::optional<std::int64_t> count = search::value_count(distribution);
    if (allowed_ == Allowed::kFinite && (!count || *count > kMostModels)) {
      return reader_.error(it.node.keys[0], "H0111", "`" + it.path + "` needs a finite choice")
          .because(
              "every value under `model.kwargs` is a model of its own, exported before the "
              "search");
    }
    return {};
  }

  /// What stands inside an option exists only where that option is chosen.
  // NOLINTNEXTLINE(misc-no-recursion): trees are at most 32 levels deep
  Result<void> walk_branches(const Node& options, const std::string& path) {
    for (std::size_t i = 0; i < options.items.size(); ++i) {
      const std::size_t before = found_.size();
      const auto outer = condition_;
      condition_ = search::Condition{.parameter = path, .branch = static_cast<std::int64_t>(i)};
      HYDRO_TRY_VOID(walk(options.items[i], path));
      condition_ = outer;
      if (outer && found_.size() > before) {
        return reader_
            .error(*found_[before].node,
                   "H0130",
                   "`" + found_[before].parameter.path +
                       "`: a choice inside an option of a choice "
                       "inside an option is not in this version")
            .fix("list the inner options in the outer choice");
      }
    }
    return {};
  }

  const Reader& reader_;
  Allowed allowed_;
  std::vector<FoundParameter>& found_;
  std::optional<search::Condition> condition_;
};

/// The option that `value` chose, or a number at the distribution's place.
Node chosen(const Node& distribution, const Value& value) {
  const Node& arguments = distribution.items[0];
  if (find_form(distribution.keys[0].text)->lists_options) {
    if (has_branches(arguments)) {
      return arguments.items.at(static_cast<std::size_t>(std::get<std::int64_t>(value)));
    }
    const auto option = std::ranges::find_if(
        arguments.items, [&](const Node& item) { return written_value(item) == value; });
    HYDRO_CHECK(option != arguments.items.end(), search::to_text(value));
    return *option;
  }
  Node scalar = make_scalar(search::to_text(value));
  scalar.place = arguments.place;
  return scalar;
}

}  // namespace

Value written_value(const Node& scalar) {
  if (const auto flag = as_bool(scalar)) {
    return *flag;
  }
  const bool whole = scalar.text.find_first_of(".eE") == std::string::npos;
  if (const auto integer = as_integer(scalar); integer && whole) {
    return *integer;
  }
  if (const auto number = as_number(scalar)) {
    return *number;
  }
  return scalar.text;
}

bool is_distribution(const Node& node, Allowed allowed) {
  return node.is_map() && node.keys.size() == 1 && find_form(node.keys[0].text) != nullptr &&
         (allowed == Allowed::kAll || node.items[0].is_sequence());
}

Result<void> find_parameters(const Reader& reader,
                             const Node& node,
                             const std::string& path,
                             Allowed allowed,
                             std::vector<FoundParameter>& found) {
  return Finder(reader, allowed, found).walk(node, path);
}

// NOLINTNEXTLINE(misc-no-recursion): trees are at most 32 levels deep
Node substitute(const Node& node,
                const std::string& path,
                const Config& config,
                Allowed allowed) {
  if (is_distribution(node, allowed)) {
    const auto value = config.find(path);
    HYDRO_CHECK(value != config.end(), path);
    return substitute(chosen(node, value->second), path, config, allowed);
  }
  Node out = node;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    out.items[i] = substitute(node.items[i], path_of_item(node, i, path), config, allowed);
  }
  return out;
}

std::string short_name(const std::string& path) {
  constexpr auto kNames = std::to_array<std::pair<std::string_view, std::string_view>>({
      {"train.optimizer.lr", "lr"},
      {"train.optimizer.momentum", "momentum"},
      {"train.optimizer.weight_decay", "weight_decay"},
      {"train.batch_size", "batch_size"},
      {"train.schedule.gamma", "gamma"},
      {"train.schedule.step_size", "step_size"},
      {"train.schedule.warmup", "warmup"},
  });
  const auto* row = std::ranges::find(kNames, path, &decltype(kNames)::value_type::first);
  return row == kNames.end() ? path : std::string(row->second);
}

std::optional<Error> misplaced_distribution(const Reader& reader,
                                            const Node& node,
                                            std::string_view key) {
  if (!node.is_map()) {
    return std::nullopt;
  }
  const std::string label = "`" + std::string(key) + "`";
  const auto named = std::ranges::find_if(
      node.keys, [](const Key& k) { return find_form(k.text) != nullptr; });
  if (named != node.keys.end()) {
    return node.keys.size() == 1
               ? reader.error(*named, "H0110", label + " cannot be searched")
                     .because(
                         "only values under `train` and `model.kwargs` may be distributions")
                     .fix("write one value")
               : reader
                     .error(
                         *named, "H0110", label + ": a distribution is a mapping with one key")
                     .fix("write {" + named->text + ": [...]} alone");
  }
  if (node.keys.size() != 1 || !node.items[0].is_sequence()) {
    return std::nullopt;
  }
  const std::vector<std::string> names = distribution_names();
  const std::string& word = node.keys[0].text;
  const std::string meant = word == "grid_search" ? "grid" : nearest(word, names);
  Error fault = reader.error(
      node.keys[0], "H0110", label + ": unknown distribution `" + printable(word) + "`");
  return std::move(fault).fix(meant.empty() ? "one of: " + join(names, " ")
                                            : "did you mean `" + meant + "`?");
}

}  // namespace hydro::job
