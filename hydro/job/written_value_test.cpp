// A value that was drawn is written into job files and read again: the same value.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "hydro/job/distributions.h"
#include "hydro/job/node.h"
#include "hydro/job/yaml.h"
#include "hydro/search/space.h"

namespace hydro::job {
namespace {

/// Through YAML text, as it stands in a list.
search::Value read_back(const search::Value& value) {
  Node map = make_map();
  map.set("value", make_scalar(search::to_text(value)));
  const std::vector<Source> sources{{.name = "test", .text = to_yaml(map)}};
  const Node read = parse_yaml(sources, 0).value();
  return written_value(*read.find("value"));
}

RC_GTEST_PROP(WrittenValue, ADoubleReadsBackAsItself, (double value)) {
  RC_ASSERT(read_back(value) == search::Value(value));
}

RC_GTEST_PROP(WrittenValue, AnIntegerReadsBackAsItself, (std::int64_t value)) {
  RC_ASSERT(read_back(value) == search::Value(value));
}

RC_GTEST_PROP(WrittenValue, ADrawReadsBackAsItself, (std::uint16_t low, std::uint8_t steps)) {
  const double q = 1e-4;
  const search::QUniform grid{.low = low * q, .high = (low + steps + 1) * q, .q = q};
  RC_PRE(search::check_distribution(grid).has_value());
  const search::Value value = search::value_at(grid, steps / 256.0);
  RC_ASSERT(search::contains(grid, read_back(value)));
}

TEST(WrittenValue, WordsAndBooleansReadBackAsThemselves) {
  for (const search::Value& value :
       {search::Value(true), search::Value(false), search::Value(std::string("40%"))}) {
    EXPECT_EQ(read_back(value), value);
  }
}

}  // namespace
}  // namespace hydro::job
