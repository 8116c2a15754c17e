// libFuzzer: any bytes as a model archive. Seeds: tests/data/*.pt2.
#include <cstddef>
#include <cstdint>
#include <span>

#include "hydro/pt2/archive.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)hydro::pt2::read_archive_bytes(std::as_bytes(std::span(data, size)), {}).has_value();
  return 0;
}
