// Records without a header: CIFAR-10 has one label byte, CIFAR-100 a coarse and a fine one;
// then 32 x 32 bytes of red, of green, of blue. Source: cs.toronto.edu/~kriz/cifar.html,
// "Binary version".
#include "hydro/data/cifar.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/data/raw_array.h"

namespace hydro::data {
namespace {

namespace fs = std::filesystem;

constexpr auto kImageBytes = std::uint64_t{3} * 32 * 32;

/// How one version writes a record.
struct Form {
  std::string name;
  std::vector<std::int64_t> classes;  // how many each of its labels has
  std::size_t label = 0;              // which of them is taken

  [[nodiscard]] std::uint64_t record() const { return classes.size() + kImageBytes; }
};

Form cifar10() {
  return {.name = "CIFAR-10", .classes = {10}};
}

Form cifar100(CifarLabels labels) {
  return {.name = "CIFAR-100",
          .classes = {20, 100},
          .label = labels == CifarLabels::kCoarse ? std::size_t{0} : std::size_t{1}};
}

std::string records_text(const Form& form) {
  return std::to_string(form.record()) + " bytes (" + form.name + ")";
}

struct SizedFile {
  fs::path path;
  std::uint64_t bytes = 0;
};

Result<std::vector<SizedFile>> sized(const std::vector<fs::path>& paths) {
  std::vector<SizedFile> files;
  for (const fs::path& path : paths) {
    std::error_code error;
    const std::uint64_t bytes = fs::file_size(path, error);
    if (error) {
      return make_error("H0401", "cannot open data file `" + path.string() + "`")
          .at(path.string())
          .because(error.message());
    }
    if (bytes == 0) {
      return make_error("H0405", "the file is empty").at(path.string());
    }
    files.push_back({.path = path, .bytes = bytes});
  }
  return files;
}

Error wrong_size(const SizedFile& file) {
  return make_error("H0403", "the file holds no whole number of CIFAR records")
      .at(file.path.string())
      .because("its " + std::to_string(file.bytes) + " bytes are no multiple of " +
               records_text(cifar10()) + " or " + records_text(cifar100({})))
      .fix("name the .bin files of the binary version, unpacked; or download them again");
}

/// The version whose records fill every file.
Result<Form> form_of(const std::vector<SizedFile>& files, std::optional<CifarLabels> labels) {
  const Form ten = cifar10();
  const Form hundred = cifar100(labels.value_or(CifarLabels::kFine));
  const auto misfit = [&](const Form& form) {
    return std::ranges::find_if(
        files, [&](const SizedFile& file) { return file.bytes % form.record() != 0; });
  };
  const auto not_ten = misfit(ten);
  const auto not_hundred = misfit(hundred);
  if (not_hundred == files.end() && (labels || not_ten != files.end())) {
    return hundred;
  }
  if (not_ten == files.end() && not_hundred == files.end()) {
    return make_error("H0402", "the file may be CIFAR-10 or CIFAR-100")
        .at(files.front().path.string())
        .because("its " + std::to_string(files.front().bytes) + " bytes are a multiple of " +
                 records_text(ten) + " and of " + records_text(hundred))
        .fix("write labels: fine if it is CIFAR-100; else divide the file into two");
  }
  if (not_ten == files.end() && labels) {
    return make_error("H0402", "`labels` is for CIFAR-100, the file is CIFAR-10")
        .at(files.front().path.string())
        .because("its records take " + records_text(ten))
        .fix("remove `labels`, or name the files of CIFAR-100");
  }
  if (not_ten == files.end()) {
    return ten;
  }
  // No version fits all: a file that fits none is to blame, else they are mixed.
  const auto neither = std::ranges::find_if(files, [&](const SizedFile& file) {
    return file.bytes % ten.record() != 0 && file.bytes % hundred.record() != 0;
  });
  if (neither != files.end()) {
    return wrong_size(*neither);
  }
  return make_error("H0402", "the files are of CIFAR-10 and of CIFAR-100")
      .at(not_ten->path.string())
      .because("`" + not_hundred->path.string() + "` is of the other version")
      .fix("name the files of one version");
}

Result<void> append_record(std::span<const std::byte> record,
                           const Form& form,
                           const fs::path& file,
                           Dataset& dataset) {
  for (std::size_t i = 0; i < form.classes.size(); ++i) {
    const auto label = std::to_integer<std::int64_t>(record[i]);
    if (label >= form.classes[i]) {
      const std::int64_t sample = dataset.size;
      return make_error("H0402", "the file is not " + form.name)
          .at(file.string())
          .because("sample " + std::to_string(sample) + " has label " + std::to_string(label) +
                   ", " + form.name + " has labels below " + std::to_string(form.classes[i]))
          .fix("name files of the binary version, or download them again");
    }
  }
  dataset.target.classes.push_back(std::to_integer<std::int64_t>(record[form.label]));
  const auto pixels = record.subspan(form.classes.size());
  Bytes& bytes = dataset.inputs.front().bytes;
  bytes.insert(bytes.end(), pixels.begin(), pixels.end());
  ++dataset.size;
  return {};
}

}  // namespace

Result<Dataset> load_cifar(const CifarSource& source, std::optional<std::int64_t> limit) {
  HYDRO_CHECK(!source.files.empty(), "a split without files");
  HYDRO_TRY(const std::vector<SizedFile> files, sized(source.files));
  HYDRO_TRY(const Form form, form_of(files, source.labels));
  const fs::path& first = files.front().path;
  Dataset dataset{.size = 0,
                  .inputs = {{.name = "",
                              .type = ElementType::kUInt8,
                              .shape = {3, 32, 32},
                              .bytes = {},
                              .is_image = true,
                              .file = first}},
                  .target = {.classes = {}, .values = {}, .shape = {}, .file = first}};
  for (const SizedFile& file : files) {
    HYDRO_TRY(const Bytes content, read_data_file(file.path));
    std::span<const std::byte> rest(content);
    while (rest.size() >= form.record() && dataset.size < limit.value_or(INT64_MAX)) {
      HYDRO_TRY_VOID(append_record(rest.first(form.record()), form, file.path, dataset));
      rest = rest.subspan(form.record());
    }
  }
  return dataset;
}

}  // namespace hydro::data
