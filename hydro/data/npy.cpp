#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/data/raw_array.h"

namespace hydro::data {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kVersionEnd = 8;        // magic, major, minor
constexpr std::uint64_t kMaxHeader = 10'000;  // numpy's own limit
constexpr std::size_t kMaxAxes = 32;

struct DescrRow {
  std::string_view descr;
  NumberKind kind;
};

constexpr std::array kDescrs = {DescrRow{.descr = "|u1", .kind = NumberKind::kUInt8},
                                DescrRow{.descr = "<i4", .kind = NumberKind::kInt32},
                                DescrRow{.descr = "<i8", .kind = NumberKind::kInt64},
                                DescrRow{.descr = "<f4", .kind = NumberKind::kFloat32},
                                DescrRow{.descr = "<f8", .kind = NumberKind::kFloat64}};

struct NpyHeader {
  std::string descr;  // empty: a structured type
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Reads the header's Python dictionary: quoted text, True or False, and a tuple of whole
/// numbers.
class DictReader {
 public:
  explicit DictReader(std::string_view text) : rest_(text) {}

  std::optional<NpyHeader> read() {
    Entries entries;
    if (!take('{')) {
      return std::nullopt;
    }
    while (!take('}')) {
      const auto key = quoted();
      if (!key || !take(':') || !read_value(*key, entries)) {
        return std::nullopt;
      }
      take(',');
    }
    skip_space();
    if (!rest_.empty() || !entries.descr || !entries.fortran_order || !entries.shape) {
      return std::nullopt;
    }
    return NpyHeader{.descr = *entries.descr,
                     .fortran_order = *entries.fortran_order,
                     .shape = *entries.shape};
  }

 private:
  struct Entries {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::int64_t>> shape;
  };

  void skip_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\t"), rest_.size()));
  }

  bool take(char wanted) {
    skip_space();
    if (!rest_.starts_with(wanted)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  bool take_word(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) {
      return false;
    }
    rest_.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string> quoted() {
    skip_space();
    const char quote = rest_.empty() ? ' ' : rest_.front();
    const std::size_t end =
        quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::optional<std::vector<std::int64_t>> tuple() {
    std::vector<std::int64_t> sizes;
    if (!take('(')) {
      return std::nullopt;
    }
    while (!take(')')) {
      skip_space();
      std::int64_t size = 0;
      const auto [end, error] =
          std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc() || size < 0 || sizes.size() == kMaxAxes) {
        return std::nullopt;
      }
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      sizes.push_back(size);
      take(',');
    }
    return sizes;
  }

  /// A structured type is a list of fields, perhaps nested; nobody reads it, so it is only
  /// skipped.
  bool skip_list() {
    const std::size_t end = rest_.rfind(']');
    if (end == std::string_view::npos) {
      return false;
    }
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool read_value(const std::string& key, Entries& entries) {
    if (key == "shape" && !entries.shape) {
      entries.shape = tuple();
      return entries.shape.has_value();
    }
    if (key == "fortran_order" && !entries.fortran_order) {
      const bool is_fortran = take_word("True");
      entries.fortran_order = is_fortran;
      return is_fortran || take_word("False");
    }
    if (key == "descr" && !entries.descr) {
      const bool is_list = take('[');
      entries.descr = is_list ? std::string() : quoted();
      return entries.descr.has_value() && (!is_list || skip_list());
    }
    return false;
  }

  std::string_view rest_;
};

std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8U | std::to_integer<std::uint64_t>(bytes[i - 1]);
  }
  return value;
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Where the dictionary lies: {first byte, length}.
Result<std::pair<std::size_t, std::size_t>> locate_header(std::span<const std::byte> content,
                                                          const std::string& place) {
  if (content.size() < kVersionEnd || !as_text(content).starts_with(kMagic)) {
    Error error = make_error("H0402", "not a .npy file").at(place);
    const bool is_zip = as_text(content).starts_with("PK");
    return is_zip
               ? std::move(error).fix(
                     "save each array on its own with numpy.save; .npz archives are not read")
               : std::move(error);
  }
  const auto major = std::to_integer<unsigned>(content[kMagic.size()]);
  if (major < 1 || major > 3) {
    return make_error("H0402",
                      ".npy format version " + std::to_string(major) + " is not 1, 2 or 3")
        .at(place);
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  if (content.size() < kVersionEnd + length_bytes) {
    return make_error("H0403", "the file ends inside its header").at(place);
  }
  const std::uint64_t length = little_endian(content.subspan(kVersionEnd, length_bytes));
  if (length > kMaxHeader) {
    return make_error(
               "H0402",
               "the .npy header claims " + std::to_string(length) + " bytes, more than 10000")
        .at(place);
  }
  if (content.size() - kVersionEnd - length_bytes < length) {
    return make_error("H0403", "the file ends inside its header").at(place);
  }
  return std::pair{kVersionEnd + length_bytes, static_cast<std::size_t>(length)};
}

Result<NumberKind> kind_of(const NpyHeader& header, const std::string& place) {
  const std::string& descr = header.descr;
  if (descr.empty()) {
    return make_error("H0410", "the array holds structured records").at(place);
  }
  if (descr.find('O') != std::string::npos) {
    return make_error("H0410", "the array holds pickled Python objects, which are never loaded")
        .at(place);
  }
  if (header.fortran_order) {
    return make_error("H0410", "the array is in Fortran order").at(place);
  }
  const auto* row = std::ranges::find(kDescrs, descr, &DescrRow::descr);
  if (row == kDescrs.end()) {
    return make_error("H0409", "the array has element type `" + printable(descr) + "`")
        .at(place);
  }
  return row->kind;
}

}  // namespace

Result<RawArray> read_npy(const std::filesystem::path& path) {
  const std::string place = path.string();
  HYDRO_TRY(Bytes content, read_data_file(path));
  HYDRO_TRY(const auto located, locate_header(content, place));
  const auto [first, length] = located;
  const std::span<const std::byte> all(content);
  const auto parsed = DictReader(as_text(all.subspan(first, length))).read();
  if (!parsed) {
    return make_error("H0402",
                      "the .npy header is no dictionary of descr, fortran_order and shape")
        .at(place);
  }
  const NpyHeader& header = *parsed;
  HYDRO_TRY(const NumberKind kind, kind_of(header, place));
  const auto count = element_count(header.shape);
  std::uint64_t needed = 0;
  if (header.shape.empty() || !count ||
      __builtin_mul_overflow(*count, byte_size(kind), &needed)) {
    return make_error("H0402",
                      "the .npy header's shape " + shape_text(header.shape) +
                          " is not one entry a sample")
        .at(place);
  }
  const auto data = all.subspan(first + length);
  if (data.size() != needed) {
    return make_error("H0403",
                      data.size() < needed ? "the file is truncated"
                                           : "the file has bytes behind its array")
        .at(place)
        .because("the array " + shape_text(header.shape) + " takes " + std::to_string(needed) +
                 " bytes, the file holds " + std::to_string(data.size()));
  }
  return RawArray{.kind = kind, .shape = header.shape, .bytes = {data.begin(), data.end()}};
}

}  // namespace hydro::data
