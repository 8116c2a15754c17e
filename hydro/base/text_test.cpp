#include "hydro/base/text.h"

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace hydro {
namespace {

TEST(Text, ShortestReadsBackAsTheSameDouble) {
  for (const double value : {0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, -2.5, 1e22}) {
    EXPECT_EQ(std::strtod(shortest(value).c_str(), nullptr), value);
  }
}

TEST(Text, ShortestMarksWholeNumbersAsReal) {
  EXPECT_EQ(shortest(3), "3.0");
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(1e300), "1e+300");
  EXPECT_EQ(shortest(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(shortest(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(shortest(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(Text, PlainNumbersCarryNoPointWhenWhole) {
  EXPECT_EQ(plain_number(3), "3");
  EXPECT_EQ(plain_number(-0.25), "-0.25");
}

TEST(Text, NearestFindsAMisspeltWord) {
  const std::vector<std::string> words = {"scaling", "scheduler", "seed"};
  EXPECT_EQ(nearest("scalng", words), "scaling");
  EXPECT_EQ(nearest("sede", words), "seed");
}

TEST(Text, NearestIsSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest("banana", std::vector<std::string>{"scaling", "seed"}), "");
  EXPECT_EQ(nearest(std::string(10'000, 's'), std::vector<std::string>{"seed"}), "");
  EXPECT_EQ(nearest("seed", {}), "");
}

TEST(Text, JoinPutsTheSeparatorBetween) {
  EXPECT_EQ(join(std::vector<std::string>{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join(std::vector<std::string>{"a"}, ", "), "a");
  EXPECT_EQ(join({}, ", "), "");
}

TEST(Text, PatternsMatchWholeTexts) {
  EXPECT_TRUE(matches_pattern("head.*", "head.weight"));
  EXPECT_TRUE(matches_pattern("*.we?ght", "a.b.weight"));
  EXPECT_TRUE(matches_pattern("a*b*c", "aXbYbZc"));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_FALSE(matches_pattern("head", "head.weight"));
  EXPECT_FALSE(matches_pattern("?", ""));
  EXPECT_FALSE(matches_pattern("a*b*c", "aXbYbZ"));
}

TEST(Text, ManyStarsTakeNoExponentialTime) {
  EXPECT_FALSE(matches_pattern("a*a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(10'000, 'a')));
}

TEST(Text, ControlCharactersBecomeVisible) {
  EXPECT_EQ(printable("a\x1b[2J\n\x7f"), "a\\x1b[2J\\x0a\\x7f");
  EXPECT_EQ(printable("caf\xC3\xA9"), "caf\xC3\xA9");
  EXPECT_EQ(printable("\xC2\x9B"
                      "2J"),
            "\\xc2\\x9b2J");  // a control sequence in one character
  EXPECT_EQ(printable("\xFF\xC3"), "\\xff\\xc3");
}

}  // namespace
}  // namespace hydro
