#include "hydro/job/points.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/job/distributions.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"

namespace hydro::job {
namespace {

using search::Config;
using search::Parameter;

bool is_named(const Parameter& parameter, const std::string& name) {
  return parameter.path == name || parameter.name == name;
}

std::vector<std::string> names_of(const search::Space& space) {
  std::vector<std::string> names;
  for (const Parameter& parameter : space.parameters) {
    if (std::ranges::find(names, parameter.name) == names.end()) {
      names.push_back(parameter.name);
    }
  }
  return names;
}

class PointReader {
 public:
  PointReader(const Reader& reader, const search::Space& space, const Node& point)
      : reader_(reader), space_(space), point_(point), used_(point.keys.size()) {}

  /// What the point says; parameters come in the space's order, so that a choice is known
  /// before what stands inside its options.
  Result<Config> read() {
    HYDRO_TRY_VOID(check_names());
    for (const Parameter& parameter : space_.parameters) {
      if (search::is_active(parameter, config_)) {
        HYDRO_TRY_VOID(take(parameter));
      }
    }
    HYDRO_TRY_VOID(check_all_used());
    return std::move(config_);
  }

 private:
  Result<void> check_names() const {
    for (const Key& key : point_.keys) {
      const auto named = [&key](const Parameter& it) { return is_named(it, key.text); };
      if (!std::ranges::any_of(space_.parameters, named)) {
        const std::vector<std::string> names = names_of(space_);
        const std::string meant = nearest(key.text, names);
        return reader_
            .error(
                key, "H0721", "`" + printable(key.text) + "` is no hyperparameter of this job")
            .fix(!meant.empty()  ? "did you mean `" + meant + "`?"
                 : names.empty() ? "remove the key: this job searches nothing"
                                 : "one of: " + join(names, " "));
      }
    }
    return {};
  }

  Result<void> take(const Parameter& parameter) {
    for (std::size_t i = 0; i < point_.keys.size(); ++i) {
      if (!is_named(parameter, point_.keys[i].text)) {
        continue;
      }
      const Node& given = point_.items[i];
      const auto value = given.is_scalar()
                             ? search::member(parameter.distribution, written_value(given))
                             : std::nullopt;
      if (!value || used_[i]) {
        return refuse_value(parameter, given);
      }
      if (config_.contains(parameter.path)) {
        return reader_
            .error(point_.keys[i], "H0721", "`" + parameter.name + "` has a second value")
            .because("a hyperparameter's short name and its whole path name the same")
            .fix("keep one of the two");
      }
      used_[i] = true;
      config_.insert_or_assign(parameter.path, *value);
    }
    return {};
  }

  [[nodiscard]] Error refuse_value(const Parameter& parameter, const Node& given) const {
    const std::string name(search::distribution_name(parameter.distribution));
    return reader_
        .error(given, "H0721", "`" + parameter.name + "` cannot be " + describe(given))
        .because("its distribution, " + name + ", does not have this value")
        .fix(search::has_options(parameter.distribution)
                 ? "write one of its options; a choice of lists or mappings takes the number "
                   "of the option, from 0"
                 : "write a value that can be drawn");
  }

  /// What stands inside an option that the point does not choose is not there.
  Result<void> check_all_used() const {
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) {
        continue;
      }
      const Key& key = point_.keys[i];
      const auto inside = std::ranges::find_if(
          space_.parameters, [&key](const Parameter& it) { return is_named(it, key.text); });
      HYDRO_CHECK(inside != space_.parameters.end(), key.text);
      const search::Condition branch = inside->condition.value();
      return reader_
          .error(
              key,
              "H0721",
              "`" + key.text + "` exists only inside an option of `" + branch.parameter + "`")
          .fix("give `" + branch.parameter + ": " + std::to_string(branch.branch) +
               "`, the number of the option, too");
    }
    return {};
  }

  const Reader& reader_;
  const search::Space& space_;
  const Node& point_;
  std::vector<bool> used_;
  Config config_;
};

}  // namespace

Result<std::vector<Config>> read_points(const Reader& reader,
                                        const Node& node,
                                        const search::Space& space,
                                        std::uint64_t seed) {
  constexpr const char* kWanted = "a list of mappings from hyperparameters to values";
  if (!node.is_sequence()) {
    return reader.wrong(node, "points_to_evaluate", kWanted);
  }
  std::vector<Config> points;
  for (const Node& item : node.items) {
    if (!item.is_map()) {
      return reader.wrong(item, "points_to_evaluate", kWanted);
    }
    HYDRO_TRY(Config given, PointReader(reader, space, item).read());
    const auto k = static_cast<std::int64_t>(points.size());
    points.push_back(search::complete_by_chance(space, std::move(given), seed, k));
  }
  return points;
}

}  // namespace hydro::job
