#include "hydro/base/safetensors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/file.h"
#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"

namespace hydro {
namespace {

constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::size_t kPrefix = 8;  // the header's length, little-endian
constexpr std::size_t kAlignment =
    8;                       // the data start on a multiple of it, as PyTorch's package writes
constexpr int kDeepest = 3;  // {tensor: {shape: [number]}}
constexpr std::string_view kMetadataKey = "__metadata__";

struct DtypeRow {
  std::string_view name;
  std::uint64_t bytes;
};

constexpr std::array kDtypes = {DtypeRow{.name = "F64", .bytes = 8},
                                DtypeRow{.name = "F32", .bytes = 4},
                                DtypeRow{.name = "F16", .bytes = 2},
                                DtypeRow{.name = "BF16", .bytes = 2},
                                DtypeRow{.name = "I64", .bytes = 8},
                                DtypeRow{.name = "I32", .bytes = 4},
                                DtypeRow{.name = "I16", .bytes = 2},
                                DtypeRow{.name = "I8", .bytes = 1},
                                DtypeRow{.name = "U8", .bytes = 1},
                                DtypeRow{.name = "BOOL", .bytes = 1}};

std::optional<std::uint64_t> dtype_bytes(std::string_view name) {
  const auto* row = std::find_if(
      kDtypes.begin(), kDtypes.end(), [&](const DtypeRow& r) { return r.name == name; });
  return row == kDtypes.end() ? std::nullopt : std::optional(row->bytes);
}

/// Nothing when the product does not fit.
std::optional<std::uint64_t> byte_count(std::uint64_t element_bytes,
                                        std::span<const std::int64_t> shape) {
  std::uint64_t total = element_bytes;
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(total, static_cast<std::uint64_t>(size), &total)) {
      return std::nullopt;
    }
  }
  return total;
}

Error damaged(const std::string& place, const std::string& problem) {
  return make_error("H0604", "cannot read safetensors file: " + problem).at(place);
}

Error damaged_tensor(const std::string& place,
                     const std::string& tensor,
                     const std::string& problem) {
  return damaged(place, "tensor `" + printable(tensor) + "`: " + problem);
}

/// Watches the JSON parser for what its tree no longer shows: repeated keys and needless depth.
class KeyWatch {
 public:
  bool see(int depth, Json::parse_event_t event, const Json& parsed) {
    if (depth > kDeepest) {
      problem_ = "the header is nested too deeply";
      return false;
    }
    const auto level = static_cast<std::size_t>(depth);
    if (event == Json::parse_event_t::object_start) {
      keys_.resize(std::max(keys_.size(), level + 2));
      keys_[level + 1].clear();
    } else if (event == Json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_[level].insert(key).second) {
        problem_ = "the key `" + printable(key) + "` appears twice";
      }
    }
    return true;
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  std::vector<std::set<std::string>> keys_;  // of the object open at each depth
  std::string problem_;
};

Result<Json> parse_header(std::string_view text, const std::string& place) {
  KeyWatch watch;
  Json header = Json::parse(
      text.begin(),
      text.end(),
      [&](int depth, Json::parse_event_t event, Json& parsed) {
        return watch.see(depth, event, parsed);
      },
      /*allow_exceptions=*/false);
  if (!watch.problem().empty()) {
    return damaged(place, watch.problem());
  }
  if (header.is_discarded() || !header.is_object()) {
    return damaged(place, "the header is no JSON object");
  }
  return header;
}

struct PlacedTensor {
  std::string name;
  SafeTensor tensor;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::optional<std::vector<std::int64_t>> read_sizes(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array()) {
    return std::nullopt;
  }
  std::vector<std::int64_t> sizes;
  for (const Json& size : *found) {
    if (!size.is_number_unsigned() ||
        size.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
      return std::nullopt;
    }
    sizes.push_back(size.get<std::int64_t>());
  }
  return sizes;
}

Result<PlacedTensor> read_entry(const std::string& name,
                                const Json& entry,
                                const std::string& place) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry.at("dtype").is_string()) {
    return damaged_tensor(place, name, "its header entry has no dtype");
  }
  const auto dtype = entry.at("dtype").get<std::string>();
  const auto element = dtype_bytes(dtype);
  if (!element) {
    return damaged_tensor(place, name, "unknown dtype `" + printable(dtype) + "`");
  }
  auto shape = read_sizes(entry, "shape");
  const auto offsets = read_sizes(entry, "data_offsets");
  if (!shape || !offsets || offsets->size() != 2) {
    return damaged_tensor(place, name, "its shape or data_offsets are no whole numbers");
  }
  const auto begin = static_cast<std::uint64_t>(offsets->front());
  const auto end = static_cast<std::uint64_t>(offsets->back());
  const auto bytes = byte_count(*element, *shape);
  if (!bytes) {
    return damaged_tensor(place, name, "its shape overflows");
  }
  if (end < begin || end - begin != *bytes) {
    return damaged_tensor(place,
                          name,
                          "its shape needs " + std::to_string(*bytes) +
                              " bytes, its data_offsets are [" + std::to_string(begin) + ", " +
                              std::to_string(end) + "]");
  }
  return PlacedTensor{.name = name,
                      .tensor = {.dtype = dtype, .shape = *std::move(shape), .bytes = {}},
                      .begin = begin,
                      .end = end};
}

Result<void> read_metadata(const Json& entry,
                           const std::string& place,
                           std::map<std::string, std::string>& metadata) {
  if (!entry.is_object()) {
    return damaged(place, "`__metadata__` is no object");
  }
  for (const auto& [key, value] : entry.items()) {
    if (!value.is_string()) {
      return damaged(
          place, "`__metadata__` holds something other than text at `" + printable(key) + "`");
    }
    metadata.emplace(key, value.get<std::string>());
  }
  return {};
}

/// Data must follow one another without gap or overlap and fill the file.
Result<void> check_layout(std::vector<PlacedTensor>& tensors,
                          std::uint64_t data_bytes,
                          const std::string& place) {
  std::sort(tensors.begin(), tensors.end(), [](const PlacedTensor& a, const PlacedTensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t expected = 0;
  for (const PlacedTensor& tensor : tensors) {
    if (tensor.begin != expected) {
      const char* problem = tensor.begin < expected ? "its data overlap another tensor's"
                                                    : "there is a gap before its data";
      return damaged_tensor(place, tensor.name, problem);
    }
    if (tensor.end > data_bytes) {
      return damaged_tensor(place,
                            tensor.name,
                            "its data end at byte " + std::to_string(tensor.end) +
                                ", the file holds " + std::to_string(data_bytes));
    }
    expected = tensor.end;
  }
  if (expected != data_bytes) {
    return damaged(
        place, std::to_string(data_bytes - expected) + " bytes at the end belong to no tensor");
  }
  return {};
}

Result<std::uint64_t> header_length(std::span<const std::byte> content,
                                    const std::string& place) {
  if (content.size() < kPrefix) {
    return damaged(
        place,
        "the file has " + std::to_string(content.size()) + " bytes, too few for a header");
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kPrefix; ++i) {
    length |= std::to_integer<std::uint64_t>(content[i]) << (8 * i);
  }
  if (length > kMaxHeader || length > content.size() - kPrefix) {
    return damaged(place,
                   "its header claims " + std::to_string(length) + " bytes, the file has " +
                       std::to_string(content.size()));
  }
  return length;
}

/// Larger elements first: PyTorch's package views the data in place, so each must start on a
/// multiple of its size.
std::vector<std::size_t> aligned_order(
    const std::vector<std::pair<std::string, SafeTensor>>& tensors) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return dtype_bytes(tensors[a].second.dtype) > dtype_bytes(tensors[b].second.dtype);
  });
  return order;
}

std::string header_text(const std::vector<std::pair<std::string, SafeTensor>>& tensors,
                        std::span<const std::uint64_t> begins,
                        const std::map<std::string, std::string>& metadata) {
  OrderedJson header = OrderedJson::object();
  if (!metadata.empty()) {
    header[std::string(kMetadataKey)] = metadata;
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    HYDRO_CHECK(name != kMetadataKey && !header.contains(name),
                "tensor name " + name + " is taken");
    header[name] = {{"dtype", tensor.dtype},
                    {"shape", tensor.shape},
                    {"data_offsets", {begins[i], begins[i] + tensor.bytes.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

void append(Bytes& content, std::span<const std::byte> bytes) {
  content.insert(content.end(), bytes.begin(), bytes.end());
}

}  // namespace

Result<SafeTensorFile> parse_safetensors(Bytes content, const std::string& place) {
  HYDRO_TRY(const std::uint64_t length, header_length(content, place));
  const std::span<const std::byte> all(content);
  const auto header_bytes = all.subspan(kPrefix, length);
  const auto data = all.subspan(kPrefix + length);
  const std::string_view text(reinterpret_cast<const char*>(header_bytes.data()),
                              header_bytes.size());
  HYDRO_TRY(const Json header, parse_header(text, place));
  SafeTensorFile file;
  std::vector<PlacedTensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadataKey) {
      HYDRO_TRY_VOID(read_metadata(entry, place, file.metadata));
      continue;
    }
    HYDRO_TRY(PlacedTensor tensor, read_entry(name, entry, place));
    tensors.push_back(std::move(tensor));
  }
  HYDRO_TRY_VOID(check_layout(tensors, data.size(), place));
  for (PlacedTensor& placed : tensors) {
    placed.tensor.bytes = data.subspan(placed.begin, placed.end - placed.begin);
    file.tensors.emplace(std::move(placed.name), std::move(placed.tensor));
  }
  file.content = std::move(content);  // moving keeps the address that the spans point to
  return file;
}

Result<SafeTensorFile> read_safetensors(const std::filesystem::path& path) {
  HYDRO_TRY(Bytes content, read_file(path));
  return parse_safetensors(std::move(content), path.string());
}

Result<void> write_safetensors(const std::filesystem::path& path,
                               const std::vector<std::pair<std::string, SafeTensor>>& tensors,
                               const std::map<std::string, std::string>& metadata) {
  const std::vector<std::size_t> order = aligned_order(tensors);
  std::vector<std::uint64_t> begins(tensors.size());
  std::uint64_t end = 0;
  for (const std::size_t i : order) {
    const auto& [name, tensor] = tensors[i];
    const auto element = dtype_bytes(tensor.dtype);
    HYDRO_CHECK(element.has_value(), name + ": dtype " + tensor.dtype);
    HYDRO_CHECK(byte_count(*element, tensor.shape) == tensor.bytes.size(),
                name + ": size does not fit the shape");
    begins[i] = end;
    end += tensor.bytes.size();
  }
  const std::string header = header_text(tensors, begins, metadata);
  Bytes content;
  content.reserve(kPrefix + header.size() + end);
  for (std::size_t i = 0; i < kPrefix; ++i) {
    content.push_back(static_cast<std::byte>(header.size() >> (8 * i) & 0xff));
  }
  append(content, std::as_bytes(std::span(header)));
  for (const std::size_t i : order) {
    append(content, tensors[i].second.bytes);
  }
  return write_file_durably(path, content);
}

}  // namespace hydro
