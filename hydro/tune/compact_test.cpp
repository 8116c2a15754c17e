#include "hydro/tune/compact.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/search/space.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {
namespace {

worker::Report report_at(std::int64_t step, std::map<std::string, double> metrics) {
  return {.trial = worker::TrialId{3},
          .step = step,
          .epoch = static_cast<double>(step) / 8,
          .metrics = std::move(metrics)};
}

Reports history_of(const std::vector<worker::Report>& all) {
  Pool<Names> names;
  Reports reports;
  for (const worker::Report& report : all) {
    reports.add(report, names);
  }
  reports.close();
  return reports;
}

TEST(CompactConfig, GivesBackWhatItWasMadeOf) {
  const search::Config config = {
      {"train.lr", 0.1}, {"train.batch_size", std::int64_t{64}}, {"act", std::string("relu")}};
  Pool<Names> names;
  EXPECT_EQ(CompactConfig(config, names).expanded(), config);
  EXPECT_EQ(CompactConfig().expanded(), search::Config{});
}

TEST(Reports, GiveBackWhatCame) {
  const std::vector<worker::Report> all = {
      report_at(1, {{"val_loss", 2}}),
      report_at(2, {{"val_loss", 1}}),
      report_at(4, {{"test_loss", 0.5}, {"val_loss", 0.7}}),
      report_at(5, {{"val_loss", 0.6}})};
  const std::vector<worker::Report> expanded =
      history_of(all).expanded(worker::TrialId{3}, {.steps_per_epoch = 8});
  ASSERT_EQ(expanded.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(expanded[i].trial, all[i].trial);
    EXPECT_EQ(expanded[i].step, all[i].step);
    EXPECT_EQ(expanded[i].epoch, all[i].epoch);
    EXPECT_EQ(expanded[i].metrics, all[i].metrics);
  }
}

TEST(Reports, KeepAReportWithoutAnyMetric) {
  const Reports reports = history_of({report_at(1, {}), report_at(2, {})});
  EXPECT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports.last_step(), 2);
  EXPECT_EQ(reports.last("val_loss"), std::nullopt);
}

TEST(Reports, KnowTheLastValueOfAMetricThatTheLastReportLacks) {
  const Reports reports = history_of({report_at(1, {{"val_accuracy", 0.5}}),
                                      report_at(2, {{"val_accuracy", 0.7}}),
                                      report_at(2, {{"test_accuracy", 0.9}})});
  EXPECT_EQ(reports.last("val_accuracy"), 0.7);
  EXPECT_EQ(reports.last("val_loss"), std::nullopt);
}

TEST(Reports, NameTheMetricThatIsNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(history_of({report_at(1, {{"train_loss", nan}, {"val_loss", 1}})}).broken_metric(),
            "train_loss");
  EXPECT_EQ(history_of({report_at(1, {{"val_loss", nan}}), report_at(2, {{"val_loss", 1}})})
                .broken_metric(),
            std::nullopt);
}

TEST(Reports, HaveNoLastOneBeforeTheFirst) {
  EXPECT_THROW((void)Reports().last_step(), BugError);
  EXPECT_EQ(Reports().last("val_loss"), std::nullopt);
}

TEST(Pool, KeepsEqualValuesOnce) {
  Pool<std::string> pool;
  EXPECT_EQ(pool.keep("a"), pool.keep("a"));
  EXPECT_NE(pool.keep("a"), pool.keep("b"));
}

}  // namespace
}  // namespace hydro::tune
