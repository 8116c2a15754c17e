#include "hydro/cli/spinning.h"

#include <array>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace hydro::cli {
namespace {

// Some ten microseconds: longer than the way from one parallel region to the next, and what
// libgomp itself takes when it knows that threads outnumber cores.
constexpr const char* kSpins = "1000";
constexpr std::array<const char*, 2> kVariables = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"};

}  // namespace

std::string spinning_text() {
  for (const char* name : kVariables) {
    if (const char* value = std::getenv(name); value != nullptr) {
      return std::string(name) + "=" + value;
    }
  }
  return {};
}

void limit_spinning(char** argv) {
  if (!spinning_text().empty() || ::setenv("GOMP_SPINCOUNT", kSpins, 1) != 0) {
    return;
  }
  ::execv("/proc/self/exe", argv);  // returns only where that is not possible
}

}  // namespace hydro::cli
