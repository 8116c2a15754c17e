// hydro/cli/spinning.h — how long OpenMP's threads spin before they sleep. Spinning is
// milliseconds by default: beside another busy process a step of many small operations then
// takes fifty times as long, since a spinning thread holds the core that the other one needs.
#pragma once

#include <string>

namespace hydro::cli {

/// OpenMP reads its settings before main begins. Where the user gave none, sets a short spin
/// and starts this program once more, in the same process; returns where nothing is left to do.
void limit_spinning(char** argv);

/// "GOMP_SPINCOUNT=1000", for `hydro doctor`; empty where nothing is set.
[[nodiscard]] std::string spinning_text();

}  // namespace hydro::cli
