#include "hydro/data/gzip.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include <zlib.h>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"

namespace hydro::data {
namespace {

constexpr std::size_t kSmallestFile = 18;  // header and trailer of an empty member
constexpr std::size_t kFirstChunk = std::size_t{1} << 16U;
constexpr int kGzipOnly = 16 + MAX_WBITS;

/// zlib's state, which must be released; zlib's interface asks for mutable input that it does
/// not change.
class Inflater {
 public:
  Inflater() { HYDRO_CHECK(::inflateInit2(&stream_, kGzipOnly) == Z_OK, "zlib cannot start"); }

  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  ~Inflater() { ::inflateEnd(&stream_); }

  /// Moves both spans past what was read and written; zlib's code.
  int step(std::span<const std::byte>& input, std::span<std::byte>& output) {
    const std::size_t give =
        std::min<std::size_t>(input.size(), std::numeric_limits<uInt>::max());
    const std::size_t room =
        std::min<std::size_t>(output.size(), std::numeric_limits<uInt>::max());
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(input.data()));
    stream_.avail_in = static_cast<uInt>(give);
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = static_cast<uInt>(room);
    const int code = ::inflate(&stream_, Z_NO_FLUSH);
    input = input.subspan(give - stream_.avail_in);
    output = output.subspan(room - stream_.avail_out);
    return code;
  }

  void restart() { HYDRO_CHECK(::inflateReset(&stream_) == Z_OK, "zlib cannot restart"); }

 private:
  z_stream stream_{};
};

Error damaged(const std::string& place, const std::string& problem) {
  return make_error("H0403", "cannot decompress: " + problem).at(place);
}

}  // namespace

bool is_gzip(std::span<const std::byte> content) {
  return content.size() >= 2 && content[0] == std::byte{0x1F} && content[1] == std::byte{0x8B};
}

std::uint32_t claimed_size(std::span<const std::byte> gzip) {
  HYDRO_CHECK(is_gzip(gzip));
  std::uint32_t size = 0;
  if (gzip.size() < kSmallestFile) {
    return size;
  }
  for (std::size_t i = 1; i <= 4; ++i) {
    size = size << 8U | std::to_integer<std::uint32_t>(gzip[gzip.size() - i]);
  }
  return size;
}

Result<Bytes> inflate(std::span<const std::byte> gzip,
                      std::uint64_t limit,
                      const std::string& place) {
  Inflater inflater;
  Bytes content;
  std::uint64_t done = 0;
  while (true) {
    if (done == content.size()) {
      content.resize(std::min<std::uint64_t>(
          limit, std::max<std::uint64_t>(2 * content.size(), kFirstChunk)));
    }
    std::span<std::byte> room = std::span(content).subspan(done);
    const int code = inflater.step(gzip, room);
    done = content.size() - room.size();
    if (code == Z_STREAM_END) {
      if (gzip.empty()) {
        break;
      }
      if (!is_gzip(gzip)) {
        return damaged(
            place,
            std::to_string(gzip.size()) + " bytes follow the end of the compressed data");
      }
      inflater.restart();
    } else if (code == Z_OK && done == limit) {
      break;
    } else if (code == Z_BUF_ERROR || (code == Z_OK && gzip.empty() && !room.empty())) {
      return damaged(
          place,
          "the file ends too early, after " + std::to_string(done) + " bytes of content");
    } else if (code != Z_OK) {
      return damaged(place,
                     "the compressed data are damaged after " + std::to_string(done) +
                         " bytes of content");
    }
  }
  content.resize(done);
  return content;
}

}  // namespace hydro::data
