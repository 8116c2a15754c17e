// libFuzzer: any bytes either are refused or are a job whose resolved form is a job again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hydro/base/result.h"
#include "hydro/job/job.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): libFuzzer hands out bytes
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto job = hydro::job::parse_job(text, "fuzz.yaml");
  if (job) {
    const auto again = hydro::job::parse_job(hydro::job::resolved_yaml(*job), "again.yaml");
    HYDRO_CHECK(again.has_value(), again.has_value() ? "" : again.error().what);
  }
  return 0;
}
