#include "hydro/base/json.h"

#include <string>

#include <gtest/gtest.h>

#include "hydro/base/testing.h"

namespace hydro {
namespace {

using testing::outcome;
using testing::words;

TEST(ParseJson, AnswersWithAValue) {
  EXPECT_EQ(parse_json(R"({"a": [1, "]{"]})", "H0604", "x").value().at("a").at(0), 1);
}

TEST(ParseJson, NamesPlaceAndByteOfAnError) {
  const std::string text = words(parse_json("{\"a\": }", "H0604", "x.json"));
  EXPECT_EQ(text.substr(0, 5), "H0604");
  EXPECT_NE(text.find("byte 7 @ x.json"), std::string::npos) << text;
}

TEST(ParseJson, RefusesDeepNesting) {
  EXPECT_EQ(outcome(parse_json(std::string(200, '[') + std::string(200, ']'), "H0604", "x")),
            "ok");
  EXPECT_EQ(outcome(parse_json(std::string(201, '[') + std::string(201, ']'), "H0604", "x")),
            "H0604");
  std::string deep;
  deep.resize(10'000'000, '[');
  EXPECT_EQ(outcome(parse_json(deep, "H0604", "x")), "H0604");
}

TEST(ParseJson, BracketsInTextAreNoNesting) {
  EXPECT_EQ(outcome(parse_json("\"\\\"" + std::string(500, '[') + "\"", "H0604", "x")), "ok");
}

TEST(ParseJson, RefusesANumberThatNoDoubleHolds) {
  EXPECT_EQ(outcome(parse_json("81e898", "H0604", "x")), "H0604");
}

TEST(ParseJson, RefusesTextThatIsNoUtf8) {
  EXPECT_EQ(outcome(parse_json("\"\xFF\"", "H0604", "x")), "H0604");
}

}  // namespace
}  // namespace hydro
