#include "hydro/store/csv.h"

#include <cstdint>
#include <limits>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "hydro/base/result.h"

namespace hydro::store {
namespace {

TEST(Csv, WritesShortestNumbersAndEmptyForMissing) {
  CsvTable table({"id", "lr", "value"});
  table.add_row({std::int64_t{7}, 0.1, std::monostate{}});
  table.add_row({std::int64_t{-8}, 3.0, std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(table.text(), "id,lr,value\n7,0.1,\n-8,3,nan\n");
}

TEST(Csv, QuotesOnlyWhatNeedsIt) {
  CsvTable table({"a", "b", "c"});
  table.add_row(
      {std::string("plain text"), std::string("x, \"y\""), std::string("two\nlines")});
  EXPECT_EQ(table.text(), "a,b,c\nplain text,\"x, \"\"y\"\"\",\"two\nlines\"\n");
}

TEST(Csv, RowsHaveOneCellAColumn) {
  CsvTable table({"a", "b"});
  EXPECT_THROW(table.add_row({std::int64_t{1}}), BugError);
}

}  // namespace
}  // namespace hydro::store
