#include "hydro/run/fingerprints.h"

#include <cerrno>
#include <cstddef>
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
#include "hydro/job/job.h"
#include "hydro/run/material.h"

namespace hydro::run {
namespace {

namespace fs = std::filesystem;

/// Also the unit of hashing: the hash of a file is the hash of its pieces' hashes.
constexpr std::size_t kPiece = std::size_t{1} << 20U;

std::vector<fs::path> files_of(const job::Split& split) {
  if (const auto* idx = std::get_if<job::IdxFiles>(&split.files)) {
    return {idx->images, idx->labels};
  }
  const auto& arrays = std::get<job::ArrayFiles>(split.files);
  std::vector<fs::path> out;
  out.reserve(arrays.inputs.size() + 1);
  for (const auto& [name, file] : arrays.inputs) {
    out.push_back(file);
  }
  out.push_back(arrays.target);
  return out;
}

/// In the job's order, each once.
std::vector<fs::path> data_files(const job::DataSection& section) {
  std::vector<fs::path> all = files_of(section.train);
  for (const std::optional<job::Split>* split : {&section.val, &section.test}) {
    if (split->has_value()) {
      const std::vector<fs::path> more = files_of(**split);
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  std::set<fs::path> seen;
  std::erase_if(all, [&seen](const fs::path& file) { return !seen.insert(file).second; });
  return all;
}

}  // namespace

Result<std::string> file_fingerprint(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string piece(kPiece, '\0');
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

Result<std::string> fingerprint_lines(const job::Job& job,
                                      const std::vector<Architecture>& architectures) {
  std::string lines = "# fingerprints of what was read\n";
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    lines += fmt::format("# {} {}\n", architectures[i].manifest.fingerprint, archive_name(i));
  }
  for (const fs::path& file : data_files(job.data)) {
    HYDRO_TRY(const std::string fingerprint, file_fingerprint(file));
    lines += fmt::format("# {} {}\n", fingerprint, printable(file.string()));
  }
  return lines;
}

}  // namespace hydro::run
