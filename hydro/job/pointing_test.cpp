#include <string>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/job/testing.h"

namespace hydro::job {
namespace {

using testing::good;
using testing::JobText;
using testing::with_data;

Error absent(const std::string& file) {
  return make_error("H0401", "cannot open data file `" + file + "`").at(file);
}

Error no_module(const std::string& name) {
  return make_error("H0202", "there is no Python module `" + name + "`");
}

TEST(Pointing, AFileIsShownAsTheJobWritesIt) {
  const Job job = good(with_data("  test: {format: idx, images: c.gz, labels: 'd.gz'}\n"));
  const Error error = point_at_file(job, "data.test", "/jobs/d.gz", absent("/jobs/d.gz"));
  EXPECT_EQ(error.where, "job.yaml:8:45");
  EXPECT_EQ(error.excerpt,
            "    8 |   test: {format: idx, images: c.gz, labels: 'd.gz'}\n"
            "      |                                             ^^^^^^");
}

TEST(Pointing, AFileOfTwoSplitsIsShownInItsOwn) {
  const Job job = good(with_data("  test: {format: idx, images: a.gz, labels: b.gz}\n"));
  EXPECT_EQ(point_at_file(job, "data.train", "/jobs/a.gz", absent("a")).where, "job.yaml:6:32");
  EXPECT_EQ(point_at_file(job, "data.test", "/jobs/a.gz", absent("a")).where, "job.yaml:8:31");
}

TEST(Pointing, AFileOfANamedInputIsFound) {
  JobText text;
  text.data =
      "data:\n  train:\n    format: arrays\n    inputs: {ids: a.npy, mask: b.npy}\n"
      "    target: y.npy\n  val_share: 0.1\n";
  const Job job = good(text.text());
  EXPECT_EQ(point_at_file(job, "data.train", "/jobs/b.npy", absent("b")).where,
            "job.yaml:8:32");
}

TEST(Pointing, AValueOfTheCommandLineIsShownThere) {
  const Job job = parse_job(JobText().text(),
                            "job.yaml",
                            {.folder = "/jobs", .overrides = {"data.train.images=x.gz"}})
                      .value();
  const Error error = point_at_file(job, "data.train", "/jobs/x.gz", absent("x"));
  EXPECT_EQ(error.where, "--set:1:19");
}

TEST(Pointing, WhatTheFileDoesNotSayLeavesTheErrorAsItIs) {
  const Job job = good(JobText().text());
  EXPECT_EQ(point_at_file(job, "data.train", "/other", absent("/other")).where, "/other");
  EXPECT_EQ(point_at_file(job, "data.val", "/jobs/a.gz", absent("a")).where, "a");
  EXPECT_EQ(point_at(job, "model.python", no_module("torch")).where, "");
  EXPECT_EQ(point_at(job, "data.seed", no_module("torch")).where, "") << "a default";
}

TEST(Pointing, ACallableIsModelExportOrTheCallThatTheMessageNames) {
  JobText text;
  text.model =
      "model:\n  export: mine.models:build\n  input: float32[*, 4]\n"
      "  kwargs: {config: {call: \"./conf.py:C\"}, other: {call: \"pack.age:C\"}}\n";
  const Job job = good(text.text());
  EXPECT_EQ(point_at_callable(job, no_module("mine")).where, "job.yaml:2:11");
  EXPECT_EQ(point_at_callable(job, no_module("pack.age")).where, "job.yaml:4:57");
  const Error no_file = make_error("H0202", "there is no file /jobs/conf.py");
  EXPECT_EQ(point_at_callable(job, no_file).where, "job.yaml:4:27");
  EXPECT_EQ(point_at_callable(job, no_module("somewhere")).where, "job.yaml:2:11");
}

}  // namespace
}  // namespace hydro::job
