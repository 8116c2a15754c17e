#include "hydro/run/fingerprints.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "hydro/base/philox.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/data/image_folder.h"
#include "hydro/job/job.h"
#include "hydro/run/material.h"

namespace hydro::run {
namespace {

namespace fs = std::filesystem;

/// Also the unit of hashing: the hash of a file is the hash of its pieces' hashes.
constexpr std::size_t kPiece = std::size_t{1} << 20U;

/// One thing that a split reads: a file, or the images of a folder.
struct Read {
  fs::path path;
  bool is_folder = false;
  std::optional<std::int64_t> limit = {};  // of a folder, whose fingerprint is of what is taken
  auto operator<=>(const Read&) const = default;
};

std::vector<Read> read_of(const job::IdxFiles& files) {
  return {{.path = files.images}, {.path = files.labels}};
}

std::vector<Read> read_of(const job::ArrayFiles& files) {
  std::vector<Read> out;
  out.reserve(files.inputs.size() + 1);
  for (const auto& [name, file] : files.inputs) {
    out.push_back({.path = file});
  }
  if (!files.target.empty()) {
    out.push_back({.path = files.target});
  }
  return out;
}

std::vector<Read> read_of(const job::ImageFolderFiles& files) {
  return {{.path = files.path, .is_folder = true}};
}

std::vector<Read> read_of(const job::CifarFiles& files) {
  std::vector<Read> out;
  out.reserve(files.files.size());
  for (const fs::path& file : files.files) {
    out.push_back({.path = file});
  }
  return out;
}

std::vector<Read> read_of(const job::TextFile& text) {
  std::vector<Read> out = {{.path = text.path}};
  if (!text.tokenizer.empty()) {
    out.push_back({.path = text.tokenizer});
  }
  return out;
}

std::vector<Read> read_of(const job::Split& split) {
  std::vector<Read> out =
      std::visit([](const auto& files) { return read_of(files); }, split.files);
  for (Read& read : out) {
    read.limit = read.is_folder ? split.limit : std::nullopt;
  }
  return out;
}

/// In the job's order, each once.
std::vector<Read> read_of(const job::DataSection& section) {
  std::vector<Read> all = read_of(section.train);
  for (const std::optional<job::Split>* split : {&section.val, &section.test}) {
    if (split->has_value()) {
      const std::vector<Read> more = read_of(**split);
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  std::set<Read> seen;
  std::erase_if(all, [&seen](const Read& read) { return !seen.insert(read).second; });
  return all;
}

}  // namespace

Result<std::string> file_fingerprint(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(file, unknown);
  std::string piece(unknown ? kPiece : std::min<std::uintmax_t>(size + 1, kPiece), '\0');
  std::string hashes;
  while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())) ||
         stream.gcount() > 0) {
    const std::string_view got(piece.data(), static_cast<std::size_t>(stream.gcount()));
    hashes += fmt::format("{:016x}", stable_hash(got));
  }
  if (!stream.eof()) {
    return make_error("H0601", "cannot read `" + file.string() + "`")
        .at(file.string())
        .because(std::generic_category().message(errno));
  }
  return fmt::format("{:016x}", stable_hash(hashes));
}

Result<std::string> image_folder_fingerprint(const fs::path& folder,
                                             std::optional<std::int64_t> limit) {
  HYDRO_TRY(const data::ImageFolder listed, data::list_image_folder(folder, limit));
  std::string lines;
  for (const data::ImageFile& image : listed.files) {
    HYDRO_TRY(const std::string content, file_fingerprint(image.path));
    lines += image.path.lexically_relative(folder).string() + '\0' + content + '\n';
  }
  return fmt::format("{:016x}", stable_hash(lines));
}

Result<std::string> fingerprint_lines(const job::Job& job,
                                      const std::vector<Architecture>& architectures) {
  std::string lines = "# fingerprints of what was read\n";
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    lines += fmt::format("# {} {}\n", architectures[i].manifest.fingerprint, archive_name(i));
  }
  for (const Read& read : read_of(job.data)) {
    HYDRO_TRY(const std::string fingerprint,
              read.is_folder ? image_folder_fingerprint(read.path, read.limit)
                             : file_fingerprint(read.path));
    lines += fmt::format("# {} {}\n", fingerprint, printable(read.path.string()));
  }
  return lines;
}

}  // namespace hydro::run
