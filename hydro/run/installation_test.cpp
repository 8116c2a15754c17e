#include "hydro/run/installation.h"

#include <gtest/gtest.h>

#include "hydro/base/file.h"
#include "hydro/base/testing.h"
#include "hydro/run/testing.h"

namespace hydro::run {
namespace {

using hydro::testing::TemporaryFolder;
using testing::EnvironmentVariable;

TEST(Installation, IsWhereHydroHomeSays) {
  const TemporaryFolder home;
  make_folder(home / "python/hydro").value();
  write_text_durably(home / "python/hydro/export.py", "").value();
  const EnvironmentVariable variable("HYDRO_HOME", home.path().string());
  const Installation found = find_installation().value();
  EXPECT_EQ(found.root, home.path());
  EXPECT_EQ(found.python_path, home / "python");
  EXPECT_EQ(found.interpreter, home / ".venv/bin/python");
}

TEST(Installation, IsFoundFromAFolderBelowIt) {
  const TemporaryFolder home;
  make_folder(home / "python/hydro").value();
  write_text_durably(home / "python/hydro/export.py", "").value();
  const EnvironmentVariable variable("HYDRO_HOME", (home / "build/release").string());
  EXPECT_EQ(find_installation().value().root, home.path());
}

TEST(Installation, ElsewhereIsRefusedNamingTheFolder) {
  const TemporaryFolder home;
  const EnvironmentVariable variable("HYDRO_HOME", home.path().string());
  const auto missing = find_installation();
  EXPECT_EQ(hydro::testing::words(missing),
            "H0802: python/hydro/export.py is neither in `" + home.path().string() +
                "` nor in a folder above it @  |  | set HYDRO_HOME to the checkout's folder");
}

}  // namespace
}  // namespace hydro::run
