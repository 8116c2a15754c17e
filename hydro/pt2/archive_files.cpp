#include "hydro/pt2/archive_files.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "hydro/base/bytes.h"
#include "hydro/base/json.h"
#include "hydro/base/philox.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/pt2/byte_source.h"
#include "hydro/pt2/zip.h"

namespace hydro::pt2 {

namespace {

constexpr std::string_view kManifest = "extra/hydro_manifest.json";

// A pickle opens with its protocol number.
Result<void> check_first_bytes(ByteSource& source) {
  std::array<std::byte, 2> head{};
  if (source.size() >= head.size()) {
    HYDRO_TRY_VOID(source.read(0, head));
  }
  const auto first = static_cast<unsigned>(head[0]);
  const auto second = static_cast<unsigned>(head[1]);
  if (first == 0x80 && second >= 1 && second <= 5) {
    return make_error("H0231", "a pickle is given as a model");
  }
  return {};
}

// The first folder, which all entries share: "model/".
std::string root_of(const ZipReader& zip) {
  if (zip.entries().empty()) {
    return {};
  }
  const std::string& first = zip.entries().front().name;
  const std::size_t slash = first.find('/');
  std::string root = slash == std::string::npos ? "" : first.substr(0, slash + 1);
  const bool shared = std::ranges::all_of(
      zip.entries(), [&](const ZipEntry& entry) { return entry.name.starts_with(root); });
  return shared ? root : "";
}

bool is_compiled(std::string_view name) {
  return name.ends_with(".so") || name.ends_with(".o") || name.ends_with(".dll") ||
         name.ends_with(".dylib") || name.ends_with(".cubin") ||
         name.find("data/aotinductor/") != std::string_view::npos;
}

Result<void> check_entries(const ZipReader& zip) {
  for (const ZipEntry& entry : zip.entries()) {
    const std::string_view name = entry.name;
    if (is_compiled(name)) {
      return make_error("H0238", "entry `" + printable(name) + "` is compiled code");
    }
    if (name.find("/custom_obj_") != std::string_view::npos ||
        name.find("/opaque_obj_") != std::string_view::npos) {
      return make_error("H0237", "entry `" + printable(name) + "` is a script object");
    }
  }
  return {};
}

// What a zip that is no archive of ours looks like.
Result<void> check_kind(const ZipReader& zip, const std::string& root) {
  const auto has = [&](std::string_view name) {
    return zip.find(root + std::string(name)) != nullptr;
  };
  const bool has_code = std::ranges::any_of(zip.entries(), [&](const ZipEntry& entry) {
    return entry.name.starts_with(root + "code/");
  });
  if (has("constants.pkl") || has_code) {
    return make_error("H0232", "a TorchScript file is given as a model");
  }
  if (has("data.pkl")) {
    return make_error("H0231", "a file of torch.save is given as a model");
  }
  for (const std::string_view needed : {kManifest,
                                        std::string_view("models/train.json"),
                                        std::string_view("models/eval.json")}) {
    if (!has(needed)) {
      return make_error("H0239", "the archive was not written by `hydro export`")
          .because("it has no " + std::string(needed));
    }
  }
  return {};
}

std::string hex(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit) {
    *digit = kDigits[value & 15U];
    value >>= 4U;
  }
  return text;
}

}  // namespace

Result<ArchiveFiles> ArchiveFiles::open(std::unique_ptr<ByteSource> source) {
  HYDRO_TRY_VOID(check_first_bytes(*source));
  HYDRO_TRY(ZipReader zip, ZipReader::open(std::move(source), {}));
  std::string root = root_of(zip);
  HYDRO_TRY_VOID(check_entries(zip));
  HYDRO_TRY_VOID(check_kind(zip, root));
  return ArchiveFiles(std::move(zip), std::move(root));
}

Result<Bytes> ArchiveFiles::read(std::string_view name, std::uint64_t limit) {
  const ZipEntry* entry = zip_.find(root_ + std::string(name));
  if (entry == nullptr) {
    return make_error("H0239", "the archive has no `" + printable(name) + "`");
  }
  return zip_.read(*entry, limit);
}

Result<Json> ArchiveFiles::read_json(std::string_view name) {
  constexpr std::uint64_t kLimit = 64U << 20U;
  HYDRO_TRY(const Bytes bytes, read(name, kLimit));
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): JSON is text
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return parse_json(text, "H0242", std::string(name));
}

std::string ArchiveFiles::fingerprint() const {
  std::string content;
  for (const ZipEntry& entry : zip_.entries()) {
    const std::string_view name = std::string_view(entry.name).substr(root_.size());
    if (!name.starts_with(".data/")) {
      content += std::string(name) + " " + std::to_string(entry.size) + " " +
                 std::to_string(entry.crc) + "\n";
    }
  }
  return hex(stable_hash(content));
}

}  // namespace hydro::pt2
