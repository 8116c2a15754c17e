#include "hydro/ir/schema.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"

namespace hydro::ir {
namespace {

OpSchema schema_of(std::string_view text) {
  return parse_schema(text).value();
}

TEST(Schema, ReadsKindsDefaultsAndListSizes) {
  const OpSchema schema = schema_of(
      "aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, "
      "SymInt[2] padding=[0, 3], "
      "SymInt groups=1) -> Tensor");
  ASSERT_EQ(schema.arguments.size(), 6U);
  EXPECT_EQ(schema.arguments[0].kind, SchemaKind::kTensor);
  EXPECT_FALSE(schema.arguments[0].fallback.has_value());
  EXPECT_EQ(schema.arguments[2].fallback, Argument(None{}));
  EXPECT_EQ(schema.arguments[3].fallback, Argument(std::vector<IntItem>{1, 1}));
  EXPECT_EQ(schema.arguments[4].fallback, Argument(std::vector<IntItem>{0, 3}));
  EXPECT_EQ(schema.arguments[5].fallback, Argument(std::int64_t{1}));
  EXPECT_FALSE(schema.is_view);
}

TEST(Schema, KnowsWhatIsWrittenAndWhatIsAView) {
  EXPECT_TRUE(schema_of("aten::relu_(Tensor(a!) self) -> Tensor(a!)").arguments[0].mutated);
  EXPECT_FALSE(schema_of("aten::relu_(Tensor(a!) self) -> Tensor(a!)").is_view);
  EXPECT_TRUE(schema_of("aten::t(Tensor(a) self) -> Tensor(a)").is_view);
  EXPECT_TRUE(
      schema_of("aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]").is_view);
}

TEST(Schema, DropsDevicesAndFlagsAboutThem) {
  const OpSchema schema = schema_of(
      "aten::zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, "
      "bool? pin_memory=None) -> Tensor");
  std::vector<SchemaKind> kinds;
  kinds.reserve(schema.arguments.size());
  for (const SchemaArgument& argument : schema.arguments) {
    kinds.push_back(argument.kind);
  }
  using enum SchemaKind;
  EXPECT_THAT(kinds, testing::ElementsAre(kInts, kDType, kDropped, kDropped, kDropped));
}

TEST(Schema, ReadsTextsFloatsAndReductions) {
  const OpSchema schema = schema_of(
      "aten::f(Tensor self, str mode=\"a, b)\", float eps=1e-05, int reduction=Mean, float[] "
      "w=[0.5, 1.5], "
      "bool[2] mask=[True, False], Tensor?[] indices=[], Scalar low=-inf) -> Tensor");
  EXPECT_EQ(schema.arguments[1].fallback, Argument(std::string("a, b)")));
  EXPECT_EQ(schema.arguments[2].fallback, Argument(1e-05));
  EXPECT_EQ(schema.arguments[3].fallback, Argument(std::int64_t{1}));
  EXPECT_EQ(schema.arguments[4].fallback, Argument(std::vector<double>{0.5, 1.5}));
  EXPECT_EQ(schema.arguments[5].fallback, Argument(std::vector<bool>{true, false}));
  EXPECT_EQ(schema.arguments[6].fallback, Argument(std::vector<std::optional<ValueId>>{}));
  EXPECT_LT(std::get<double>(*schema.arguments[7].fallback), -1e300);
}

TEST(Schema, NormalizesWhatWasGivenInAnotherForm) {
  const OpSchema schema =
      schema_of("aten::f(int[2] k, float p, float[] w, Tensor?[] i, Tensor t) -> Tensor");
  EXPECT_EQ(normalized(std::int64_t{3}, schema.arguments[0]),
            Argument(std::vector<IntItem>{3, 3}));
  EXPECT_EQ(normalized(std::int64_t{0}, schema.arguments[1]), Argument(0.0));
  EXPECT_EQ(normalized(std::vector<IntItem>{1, 2}, schema.arguments[2]),
            Argument(std::vector<double>{1, 2}));
  EXPECT_EQ(normalized(std::vector<ValueId>{ValueId{4}}, schema.arguments[3]),
            Argument(std::vector<std::optional<ValueId>>{ValueId{4}}));
  EXPECT_EQ(normalized(0.25, schema.arguments[4]), Argument(0.25));
}

TEST(Schema, RefusesWhatItCannotRead) {
  for (const std::string_view text : {"aten::f",
                                      "aten::f(Tensor self",
                                      "aten::f(Tensor) -> Tensor",
                                      "aten::f(int a=what) -> Tensor"}) {
    const Result<OpSchema> schema = parse_schema(text);
    ASSERT_FALSE(schema) << text;
    EXPECT_EQ(schema.error().id, "H0250");
  }
}

}  // namespace
}  // namespace hydro::ir
