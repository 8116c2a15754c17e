#include "hydro/job/yaml.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/worker/settings.h"

namespace hydro::job {
namespace {

std::string refusal(const std::string& text) {
  const auto parsed = parse_yaml({{.name = "job.yaml", .text = text}}, 0);
  return parsed ? "none" : parsed.error().id + " " + parsed.error().where;
}

Node tree(const std::string& text) {
  return parse_yaml({{.name = "t", .text = text}}, 0).value();
}

TEST(Yaml, RefusesBytesThatAreNoPlainText) {
  EXPECT_EQ(refusal("\xEF\xBB\xBFname: a\n"), "H0107 job.yaml:1:1");
  EXPECT_EQ(refusal(std::string("\xFF\xFE") + "n"), "H0107 job.yaml:1:1");
  EXPECT_EQ(refusal("name: a\nx: \xC3\x28\n"), "H0107 job.yaml:2:4");
  EXPECT_EQ(refusal("x: \xED\xA0\x80\n"), "H0107 job.yaml:1:4");
  EXPECT_EQ(refusal("x: \x01\n"), "H0107 job.yaml:1:4");
  EXPECT_EQ(refusal("x: \xC3\xBC\n"), "none");
}

TEST(Yaml, RefusesNestingBeforeItCosts) {
  EXPECT_EQ(refusal(std::string(10'000, '[') + std::string(10'000, ']')),
            "H0108 job.yaml:1:33");
  EXPECT_NE(refusal(std::string(10'000, '[')), "none");
  EXPECT_NE(refusal(std::string(10'000, '{')), "none");
  std::string blocks;
  for (int depth = 0; depth < 1000; ++depth) {
    blocks += std::string(static_cast<std::size_t>(depth), ' ') + "a:\n";
  }
  EXPECT_EQ(refusal(blocks).substr(0, 5), "H0108");
}

TEST(Yaml, RefusesBillionLaughs) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int copy = 0; copy < 9; ++copy) {
      text += ", " + last;
    }
    text += "]\n";
  }
  EXPECT_EQ(refusal(text).substr(0, 5), "H0108");
}

TEST(Yaml, AliasesAreWrittenOut) {
  EXPECT_EQ(to_flow(tree("a: &x {b: 1}\nc: *x\n")), "{a: {b: 1}, c: {b: 1}}");
}

TEST(Yaml, RefusesAFileOfMoreThanAMegabyteUnread) {
  EXPECT_EQ(refusal(std::string(kLargestJob + 1, ' ')), "H0101 job.yaml");
  const auto path = std::filesystem::temp_directory_path() / "hydro_job_large.yaml";
  std::ofstream(path) << "x";
  std::filesystem::resize_file(path, 100'000'000);
  EXPECT_EQ(load_job(path).error().id, "H0101");
  std::filesystem::remove(path);
}

TEST(Yaml, AMissingFileIsTheUsersFault) {
  const auto job = load_job("/nowhere/job.yaml");
  EXPECT_EQ(job.error().id, "H0100");
  EXPECT_EQ(job.error().code, ErrorCode::kInvalidInput);
}

TEST(Yaml, WritesWhatReadsBackTheSame) {
  const std::string text =
      "a:\n  plain: 1e-4\n  text: \"1e-4\"\n  list: [x, \"y, z\", null, {k: \"a: b\"}]\n"
      "  odd: \"tab\\x09 quote\\\" back\\\\ \xC3\xBC\"\n  dash: \"-\"\n  empty: \"\"\n  void: "
      "{}\n";
  const Node first = tree(text);
  EXPECT_EQ(to_yaml(tree(to_yaml(first))), to_yaml(first));
  EXPECT_EQ(first.find("a")->find("odd")->text, "tab\t quote\" back\\ \xC3\xBC");
  EXPECT_TRUE(tree(to_yaml(first)).find("a")->find("text")->quoted);
}

TEST(Yaml, ReadsJsonToo) {
  EXPECT_EQ(to_flow(tree(R"({"a": [1, true, "x"], "b": null})")),
            R"({a: [1, true, "x"], b: null})");
}

TEST(Scalars, BooleansAreTrueAndFalseOnly) {
  EXPECT_EQ(as_bool(make_scalar("true")), true);
  for (const char* word : {"yes", "no", "on", "off", "True", "y", "1"}) {
    EXPECT_FALSE(as_bool(make_scalar(word)).has_value()) << word;
  }
  EXPECT_FALSE(as_bool(tree("\"true\"")).has_value());
}

TEST(Scalars, NumbersHaveNoLeadingZerosAndNoOtherBase) {
  EXPECT_EQ(as_number(make_scalar("1e-4")), 1e-4);
  EXPECT_EQ(as_number(make_scalar("-.5")), -0.5);
  EXPECT_EQ(as_integer(make_scalar("1e4")), 10'000);
  for (const char* word :
       {"010", "0x10", "0o7", "1_000", "1e", "e5", "", "1.5.2", "--1", "+-1"}) {
    EXPECT_FALSE(as_number(make_scalar(word)).has_value()) << word;
  }
  EXPECT_FALSE(as_integer(make_scalar("1.5")).has_value());
  EXPECT_FALSE(as_integer(make_scalar("99999999999999999999")).has_value());
}

TEST(Scalars, SpansAreSharesEpochsOrSteps) {
  using Unit = worker::Span::Unit;
  EXPECT_EQ(as_span(make_scalar("40%")), (worker::Span{0.4, Unit::kShare}));
  EXPECT_EQ(as_span(make_scalar("1 epoch")), (worker::Span{1, Unit::kEpochs}));
  EXPECT_EQ(as_span(make_scalar("2.5 epochs")), (worker::Span{2.5, Unit::kEpochs}));
  EXPECT_EQ(as_span(make_scalar("300")), (worker::Span{300, Unit::kSteps}));
  for (const char* word : {"-1", "40 %%", "epoch", "3 weeks", ""}) {
    EXPECT_FALSE(as_span(make_scalar(word)).has_value()) << word;
  }
}

TEST(Scalars, TimesHaveAUnit) {
  using std::chrono::milliseconds;
  EXPECT_EQ(as_duration(make_scalar("90 s")), milliseconds(90'000));
  EXPECT_EQ(as_duration(make_scalar("15 min")), milliseconds(900'000));
  EXPECT_EQ(as_duration(make_scalar("1.5h")), milliseconds(5'400'000));
  for (const char* word : {"90", "15 minutes", "-1 s", "s"}) {
    EXPECT_FALSE(as_duration(make_scalar(word)).has_value()) << word;
  }
}

TEST(Scalars, SizesHaveAUnit) {
  EXPECT_EQ(as_size(make_scalar("4 GB")), 4'000'000'000U);
  EXPECT_EQ(as_size(make_scalar("512MiB")), 536'870'912U);
  EXPECT_EQ(as_size(make_scalar("0 KB")), 0U);
  EXPECT_EQ(as_size(make_scalar("1.5 KiB")), 1536U);
  for (const char* word : {"4", "4 gigabytes", "-1 GB", "GB", "1e9 TB", ".nan GB"}) {
    EXPECT_FALSE(as_size(make_scalar(word)).has_value()) << word;
  }
}

}  // namespace
}  // namespace hydro::job
