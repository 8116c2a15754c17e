#include "hydro/base/file.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"

namespace hydro {
namespace {

std::string reason(int error) {
  return std::generic_category().message(error);
}

Error read_error(const std::filesystem::path& path, int error) {
  return make_error("H0601", "cannot read `" + path.string() + "`").because(reason(error));
}

Error write_error(const std::filesystem::path& path, int error) {
  return make_error("H0603", "cannot write `" + path.string() + "`").because(reason(error));
}

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}

  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

bool write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

Result<void> sync_folder(const std::filesystem::path& folder) {
  const Descriptor fd(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 || ::fsync(fd.get()) != 0) {
    return write_error(folder, errno);
  }
  return {};
}

Result<void> write_temporary(const std::filesystem::path& temporary,
                             std::span<const std::byte> bytes) {
  constexpr int kMode = 0644;
  const Descriptor fd(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
  if (fd.get() < 0 || !write_all(fd.get(), bytes) || ::fsync(fd.get()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return write_error(temporary, error);
  }
  return {};
}

/// How much to read at once: a small file whole, with room to see its end. A buffer's bytes are
/// set before they are read, which would cost more than the reading of many small files.
std::size_t chunk_of(int fd) {
  constexpr std::int64_t kLeast = 4096;
  constexpr std::int64_t kMost = std::int64_t{1} << 20U;
  struct stat status{};
  const bool known = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  return static_cast<std::size_t>(
      known ? std::clamp<std::int64_t>(status.st_size + 1, kLeast, kMost) : kMost);
}

/// Appends up to `limit` + 1 bytes of `fd` to `out`; false on a read error.
template <class Buffer>
bool read_all(int fd, std::uint64_t limit, Buffer& out) {
  const std::size_t chunk = chunk_of(fd);
  while (out.size() <= limit) {
    const std::size_t old = out.size();
    out.resize(old + chunk);
    const ssize_t got = ::read(fd, out.data() + old, chunk);
    out.resize(old + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno != EINTR) {
      return false;
    }
    if (got == 0) {
      return true;
    }
  }
  return true;
}

template <class Buffer>
Result<Buffer> read_into(const std::filesystem::path& path, std::uint64_t limit) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Buffer content;
  if (fd.get() < 0 || !read_all(fd.get(), limit, content)) {
    return read_error(path, errno);
  }
  if (content.size() > limit) {
    return make_error(
        "H0602", "`" + path.string() + "` is larger than " + std::to_string(limit) + " bytes");
  }
  return content;
}

}  // namespace

Result<Bytes> read_file(const std::filesystem::path& path, std::uint64_t limit) {
  return read_into<Bytes>(path, limit);
}

Result<std::string> read_text(const std::filesystem::path& path, std::uint64_t limit) {
  return read_into<std::string>(path, limit);
}

Result<void> write_file_durably(const std::filesystem::path& path,
                                std::span<const std::byte> bytes) {
  const std::filesystem::path temporary = path.string() + ".tmp." + std::to_string(::getpid());
  HYDRO_TRY_VOID(write_temporary(temporary, bytes));
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return write_error(path, error);
  }
  return sync_folder(path.parent_path());
}

Result<void> write_text_durably(const std::filesystem::path& path, std::string_view text) {
  return write_file_durably(path, std::as_bytes(std::span(text)));
}

Result<void> make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return write_error(path, error.value());
  }
  return {};
}

}  // namespace hydro
