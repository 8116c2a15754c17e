#include "hydro/base/catalogue.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "hydro/base/result.h"

namespace hydro {
namespace {

TEST(Catalogue, IdsAreUniqueAndSorted) {
  std::string_view before;
  for (const CatalogueRow& row : catalogue()) {
    EXPECT_LT(before, row.id);
    before = row.id;
  }
}

TEST(Catalogue, IdsAreHAndFourDigits) {
  for (const CatalogueRow& row : catalogue()) {
    ASSERT_EQ(row.id.size(), 5U) << row.id;
    EXPECT_EQ(row.id.front(), 'H');
    EXPECT_TRUE(std::ranges::all_of(row.id.substr(1), [](unsigned char c) {
      return std::isdigit(c) != 0;
    })) << row.id;
  }
}

TEST(Catalogue, EveryRowExplainsItself) {
  for (const CatalogueRow& row : catalogue()) {
    EXPECT_FALSE(row.title.empty()) << row.id;
    EXPECT_FALSE(row.meaning.empty()) << row.id;
    EXPECT_FALSE(row.remedy.empty()) << row.id;
    EXPECT_NE(row.exit, ExitCode::kDone) << row.id << ": no error exits 0";
  }
}

TEST(Catalogue, TitlesAndRemediesAreOneLineWithoutAFullStop) {
  for (const CatalogueRow& row : catalogue()) {
    for (const std::string_view text : {row.title, row.remedy}) {
      EXPECT_EQ(text.find('\n'), std::string_view::npos) << row.id;
      EXPECT_FALSE(text.ends_with('.')) << row.id << ": " << text;
    }
  }
}

TEST(Catalogue, FindsARowOrNothing) {
  ASSERT_NE(find_catalogue_row("H0601"), nullptr);
  EXPECT_EQ(find_catalogue_row("H0601")->id, "H0601");
  EXPECT_EQ(find_catalogue_row("H9999"), nullptr);
}

TEST(Error, TakesCodeAndRemedyFromItsRow) {
  const Error error = make_error("H0601", "cannot read `x`");
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_EQ(error.remedy, find_catalogue_row("H0601")->remedy);
  EXPECT_EQ(make_error("H0601", "x").fix("buy a disk").remedy, "buy a disk");
}

TEST(Error, IdsOutsideTheCatalogueAreBugs) {
  EXPECT_THROW((void)make_error("H9999", "x"), BugError);
}

TEST(Error, RendersWhatAUserReads) {
  const Error error = make_error("H0601", "cannot read `x`")
                          .at("job.yaml:3:1")
                          .because("no such file")
                          .fix("look")
                          .keeping("all")
                          .showing("  3 | x");
  EXPECT_EQ(render(error),
            "error[H0601]: cannot read `x`                           job.yaml:3:1\n"
            "  3 | x\n"
            "   why: no such file\n"
            "   do: look\n"
            "   kept: all\n");
}

TEST(Error, RendersNoEmptyParts) {
  Error error = make_error("H0601", "cannot read `x`");
  error.remedy.clear();
  EXPECT_EQ(render(error), "error[H0601]: cannot read `x`\n");
}

TEST(Result, ValueOfAnErrorIsABug) {
  const Result<int> failed = make_error("H0601", "x");
  EXPECT_FALSE(failed.has_value());
  EXPECT_THROW((void)failed.value(), BugError);
  const Result<int> fine = 7;
  EXPECT_EQ(*fine, 7);
  EXPECT_THROW((void)fine.error(), BugError);
}

TEST(Result, TryHandsTheErrorOn) {
  const auto twice = [](Result<int> in) -> Result<int> {
    HYDRO_TRY(const int value, std::move(in));
    return 2 * value;
  };
  EXPECT_EQ(twice(4).value(), 8);
  EXPECT_EQ(twice(make_error("H0602", "x")).error().id, "H0602");
}

TEST(Check, NamesConditionAndPlace) {
  try {
    HYDRO_CHECK(1 == 2, "the note");
    FAIL();
  } catch (const BugError& bug) {
    const std::string text = bug.what();
    EXPECT_NE(text.find("catalogue_test.cpp"), std::string::npos) << text;
    EXPECT_NE(text.find("1 == 2: the note"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace hydro
