// docs/job-file.md against the schema: a heading names a section in backticks, its table has
// one row a key, with the type and the default that the program knows.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "hydro/job/schema.h"
#include "hydro/job/sections.h"

namespace hydro::job {
namespace {

/// What a row must start with.
std::string row_of(const KnownKey& it) {
  const std::string fallback = it.fallback.empty() ? "" : "`" + it.fallback + "`";
  return it.section + " | `" + it.key + "` | " + it.type + " | " + fallback + " |" +
         (it.is_later ? " not in this version" : "");
}

/// The rows of all tables of keys: the section, and the line up to its last column; that only
/// where it says that the key comes later.
std::set<std::string> documented_rows() {
  std::ifstream page(std::filesystem::path(HYDRO_SOURCE_DIR) / "docs/job-file.md");
  std::set<std::string> rows;
  std::string section;
  for (std::string line; std::getline(page, line);) {
    const std::size_t tick = line.find('`');
    if (line.starts_with("#")) {
      section = tick == std::string::npos
                    ? "the job"
                    : line.substr(tick + 1, line.find('`', tick + 1) - tick - 1);
    } else if (line.starts_with("| `")) {
      const std::size_t last = line.rfind(" | ");
      const bool is_later = line.substr(last).starts_with(" | not in this version");
      rows.insert(section + " " + line.substr(0, last) + " |" +
                  (is_later ? " not in this version" : ""));
    }
  }
  return rows;
}

TEST(JobFilePage, HasEveryKeyWithItsTypeAndDefaultAndNoOther) {
  std::set<std::string> known;
  for (const KnownKey& it : known_keys()) {
    known.insert(row_of(it));
  }
  ASSERT_GT(known.size(), 80U);
  const std::set<std::string> documented = documented_rows();
  for (const std::string& row : known) {
    EXPECT_TRUE(documented.contains(row)) << "missing in docs/job-file.md: " << row;
  }
  for (const std::string& row : documented) {
    EXPECT_TRUE(known.contains(row)) << "not in the schema: " << row;
  }
}

}  // namespace
}  // namespace hydro::job
