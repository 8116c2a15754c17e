// hydro/ir/testing.h — what tests need to speak of graphs: parsing that must succeed, and
// golden cases.
//
// A golden case is one text file: an input, a line of dashes, and the expected output.
// `ROOM_test --update` writes the outputs that the program gives instead of comparing them;
// review them as a diff.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"

namespace hydro::ir {

/// Fails the test when the text cannot be read.
inline Graph graph_of(std::string_view text) {
  Result<Graph> graph = parse_graph(text);
  if (!graph) {
    ADD_FAILURE() << graph.error().where << ": " << graph.error().what;
    return {};
  }
  return *std::move(graph);
}

/// "error H0248 what" and, where there is one, " | place": what golden cases say of a refusal.
inline std::string refusal_text(const Error& error) {
  return "error " + error.id + ": " + error.what +
         (error.where.empty() ? "" : " | " + error.where) + "\n";
}

struct GoldenCase {
  std::filesystem::path path;
  std::string input;
  std::string expected;
};

/// All *.txt of the folder below tests/golden, by name.
inline std::vector<GoldenCase> golden_cases(std::string_view folder) {
  constexpr std::string_view kRule = "\n----\n";
  std::vector<GoldenCase> cases;
  const auto root = std::filesystem::path(HYDRO_SOURCE_DIR) / "tests" / "golden" / folder;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (entry.path().extension() != ".txt") {
      continue;
    }
    std::ifstream file(entry.path(), std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::size_t rule = std::min(text.find(kRule), text.size());
    cases.push_back({.path = entry.path(),
                     .input = text.substr(0, rule) + "\n",
                     .expected = text.substr(std::min(rule + kRule.size(), text.size()))});
  }
  std::ranges::sort(cases, {}, &GoldenCase::path);
  return cases;
}

/// Compares `run(input)` with each case's expected text.
inline void check_golden(std::string_view folder,
                         const std::function<std::string(const GoldenCase&)>& run) {
  const auto& arguments = testing::internal::GetArgvs();
  const bool update = std::ranges::find(arguments, "--update") != arguments.end();
  const std::vector<GoldenCase> cases = golden_cases(folder);
  EXPECT_FALSE(cases.empty()) << folder;
  for (const GoldenCase& golden : cases) {
    const std::string actual = run(golden);
    if (update) {
      std::ofstream(golden.path, std::ios::binary) << golden.input << "----\n" << actual;
    } else {
      EXPECT_EQ(actual, golden.expected) << golden.path.filename().string();
    }
  }
}

}  // namespace hydro::ir
