#include "hydro/run/token_tables.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "hydro/ir/graph.h"

namespace hydro::run {
namespace {

ir::Graph two_tables(const std::string& before) {
  return ir::parse_graph(
             "graph {\n  input user ids %ids: int64[~5, 12]\n"
             "  input user mask %mask: int64[~5, 12]\n"
             "  input parameter words.weight %w: float32[100, 8]\n"
             "  input parameter kinds.weight %k: float32[20, 8]\n"
             "  %a: int64[~5, 12] = " +
             before +
             "\n"
             "  %x: float32[~5, 12, 8] = aten.embedding.default(weight=%w, indices=%ids)\n"
             "  %y: float32[~5, 12, 8] = aten.embedding.default(weight=%k, indices=%a)\n"
             "  output user out %y\n}\n")
      .value();
}

TEST(TokenTables, TheSmallestTableLimitsAnInput) {
  EXPECT_EQ(table_rows(two_tables("aten.view.default(self=%ids, size=[5, 12])"), "ids"), 20);
}

TEST(TokenTables, ANumberThatWasComputedIsNoLongerTheInput) {
  EXPECT_EQ(table_rows(two_tables("aten.abs.default(self=%ids)"), "ids"), 100);
}

TEST(TokenTables, AnInputWithoutATableHasNoLimit) {
  EXPECT_EQ(table_rows(two_tables("aten.abs.default(self=%ids)"), "mask"), std::nullopt);
}

}  // namespace
}  // namespace hydro::run
