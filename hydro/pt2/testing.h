// hydro/pt2/testing.h — archives for tests: real ones taken apart and put together again, and
// zip files that lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <zlib.h>

#include "hydro/base/bytes.h"
#include "hydro/base/file.h"
#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/pt2/archive.h"
#include "hydro/pt2/byte_source.h"
#include "hydro/pt2/zip.h"

namespace hydro::pt2 {

inline std::filesystem::path fixture(std::string_view name) {
  return std::filesystem::path(HYDRO_SOURCE_DIR) / "tests" / "data" / name;
}

inline Bytes bytes_of(std::string_view text) {
  Bytes bytes;
  for (const char letter : text) {
    bytes.push_back(static_cast<std::byte>(letter));
  }
  return bytes;
}

inline std::string text_of(const Bytes& bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text += static_cast<char>(byte);
  }
  return text;
}

/// One entry as it will stand in the file; `declared_*` lie when they are set.
struct TestEntry {
  std::string name;
  std::string data;
  bool deflate = false;
  std::uint16_t flags = 0;
  std::uint32_t attributes = 0;
  std::int64_t declared_size = -1;        // in the directory
  std::int64_t declared_local_size = -1;  // in the entry's own header
  std::string local_name;                 // in the entry's own header; empty: the name
  bool wrong_checksum = false;
};

class ZipBuilder {
 public:
  ZipBuilder& add(const TestEntry& entry) {
    const std::string packed = entry.deflate ? deflated(entry.data) : entry.data;
    const auto* raw = reinterpret_cast<const Bytef*>(entry.data.data());
    const auto crc = static_cast<std::uint32_t>(crc32_z(0, raw, entry.data.size())) +
                     (entry.wrong_checksum ? 1U : 0U);
    const auto size = static_cast<std::uint32_t>(
        entry.declared_size >= 0 ? entry.declared_size
                                 : static_cast<std::int64_t>(entry.data.size()));
    const auto local_size = entry.declared_local_size >= 0
                                ? static_cast<std::uint32_t>(entry.declared_local_size)
                                : size;
    const std::uint32_t packed_size =
        entry.deflate ? static_cast<std::uint32_t>(packed.size()) : size;
    const std::string& local_name = entry.local_name.empty() ? entry.name : entry.local_name;
    const auto offset = static_cast<std::uint32_t>(file_.size());
    number(file_, 0x04034b50, 4);
    common(file_, entry, crc, packed_size, local_size);
    number(file_, local_name.size(), 2);
    number(file_, 0, 2);
    file_ += local_name + packed;
    number(directory_, 0x02014b50, 4);
    number(directory_, 20, 2);
    common(directory_, entry, crc, packed_size, size);
    number(directory_, entry.name.size(), 2);
    number(directory_, 0, 2 + 2 + 2 + 2);
    number(directory_, entry.attributes, 4);
    number(directory_, offset, 4);
    directory_ += entry.name;
    ++count_;
    return *this;
  }

  /// `claimed`: the number of entries that the end record gives; -1: the truth.
  [[nodiscard]] Bytes bytes(std::int64_t claimed = -1) const {
    const std::uint64_t count = claimed >= 0 ? static_cast<std::uint64_t>(claimed) : count_;
    std::string file = file_ + directory_;
    if (count > 0xffff) {
      const std::uint64_t end_at = file.size();
      number(file, 0x06064b50, 4);
      number(file, 44, 8);
      number(file, 45, 2 + 2 + 4 + 4);
      number(file, count, 8);
      number(file, count, 8);
      number(file, directory_.size(), 8);
      number(file, file_.size(), 8);
      number(file, 0x07064b50, 4);
      number(file, 0, 4);
      number(file, end_at, 8);
      number(file, 1, 4);
    }
    number(file, 0x06054b50, 4);
    number(file, 0, 4);
    number(file, count & 0xffffU, 2);
    number(file, count & 0xffffU, 2);
    number(file, directory_.size(), 4);
    number(file, file_.size(), 4);
    number(file, 0, 2);
    return bytes_of(file);
  }

 private:
  static void number(std::string& out, std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) {
      out += i < 8 ? static_cast<char>((value >> (8 * i)) & 0xffU) : '\0';
    }
  }

  // From "version needed" to the sizes: the same in both headers.
  static void common(std::string& out,
                     const TestEntry& entry,
                     std::uint32_t crc,
                     std::uint32_t packed,
                     std::uint32_t size) {
    number(out, 20, 2);
    number(out, entry.flags, 2);
    number(out, entry.deflate ? 8 : 0, 2);
    number(out, 0, 4);
    number(out, crc, 4);
    number(out, packed, 4);
    number(out, size, 4);
  }

  static std::string deflated(const std::string& data) {
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, data.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
  }

  std::string file_;
  std::string directory_;
  std::uint64_t count_ = 0;
};

/// An archive's files by their full names.
using TestFiles = std::map<std::string, std::string>;

inline TestFiles files_of(const std::filesystem::path& path) {
  ZipReader zip = ZipReader::open(open_file_source(path).value(), {}).value();
  TestFiles files;
  for (const ZipEntry& entry : zip.entries()) {
    files[entry.name] = text_of(zip.read(entry, 1U << 30U).value());
  }
  return files;
}

inline Bytes zip_of(const TestFiles& files) {
  ZipBuilder zip;
  for (const auto& [name, data] : files) {
    zip.add({.name = name, .data = data, .deflate = false, .local_name = {}});
  }
  return zip.bytes();
}

/// The JSON file whose name ends so, for editing in place by `edit`.
template <class Edit>
void edit_json(TestFiles& files, std::string_view ending, const Edit& edit) {
  for (auto& [name, data] : files) {
    if (name.ends_with(ending)) {
      Json json = Json::parse(data);
      edit(json);
      data = json.dump();
    }
  }
}

/// The id of the error that reading these bytes gives, or "".
inline std::string refusal_of(const Bytes& bytes, const ReadOptions& options = {}) {
  const Result<Archive> archive = read_archive_bytes(bytes, options);
  return archive ? "" : archive.error().id;
}

}  // namespace hydro::pt2
