#include "hydro/pt2/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "hydro/base/result.h"

namespace hydro::pt2 {

namespace {

Error past_end() {
  return make_error("H0235", "the archive ends too early");
}

bool fits(std::uint64_t size, std::uint64_t offset, std::uint64_t count) {
  return offset <= size && count <= size - offset;
}

class FileSource : public ByteSource {
 public:
  FileSource(std::ifstream file, std::uint64_t size) : file_(std::move(file)), size_(size) {}

  std::uint64_t size() const override { return size_; }

  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    if (!fits(size_, offset, out.size())) {
      return past_end();
    }
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): streams speak char
    file_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
    return file_ ? Result<void>() : make_error("H0601", "the archive cannot be read");
  }

 private:
  std::ifstream file_;
  std::uint64_t size_;
};

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t size() const override { return bytes_.size(); }

  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    if (!fits(bytes_.size(), offset, out.size())) {
      return past_end();
    }
    std::ranges::copy(bytes_.subspan(offset, out.size()), out.begin());
    return {};
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file_source(const std::filesystem::path& path) {
  const auto refused = [&path](const std::string& reason) {
    return make_error("H0254", "cannot read the model archive `" + path.string() + "`")
        .at(path.string())
        .because(reason);
  };
  std::error_code status;
  if (!std::filesystem::is_regular_file(path, status)) {
    return refused(status ? status.message() : "it is not a file");
  }
  const std::uint64_t size = std::filesystem::file_size(path, status);
  std::ifstream file(path, std::ios::binary);
  if (status || !file) {
    return refused(std::generic_category().message(errno));
  }
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(std::move(file), size));
}

std::unique_ptr<ByteSource> make_memory_source(std::span<const std::byte> bytes) {
  return std::make_unique<MemorySource>(bytes);
}

}  // namespace hydro::pt2
