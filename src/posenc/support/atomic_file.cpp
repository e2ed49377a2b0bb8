#include "posenc/support/atomic_file.h"

#include "posenc/support/file_system.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cerrno>
#include <random>
#include <system_error>

namespace posenc {
namespace {

/// The file behind symbolic links, which may not exist yet, so that the rename makes or replaces
/// the file and not a link to it. A loop of links is returned as it is: opening it fails.
std::filesystem::path resolved(std::filesystem::path file) {
  constexpr int most_links = 40;  // as Linux follows
  std::error_code error;
  for (int links = 0; links < most_links && std::filesystem::is_symlink(file, error); ++links) {
    const auto target = std::filesystem::read_symlink(file, error);
    if (error) break;
    file = file.parent_path() / target;  // an absolute target replaces the folder
  }
  return file;
}

/// A name in the folder of the file that no other process uses.
std::filesystem::path temporary_beside(const std::filesystem::path& file) {
  std::random_device random;
  return file.parent_path() /
         format_text(".{}.{}{}.tmp", file.filename().string(), random(), random());
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& file)
    : name_(file.string()), file_(resolved(file)) {
  std::error_code ignored;
  const auto existing = std::filesystem::status(file_, ignored);
  if (std::filesystem::is_symlink(file_, ignored)) fail(ELOOP);
  const bool exists = std::filesystem::exists(existing);
  if (std::filesystem::is_directory(existing)) fail(EISDIR);
  if (exists && !std::filesystem::is_regular_file(existing)) {
    descriptor_ = file_system::open_to_write(file_);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  // A rename needs no permission to write the file that it replaces, so it is checked here.
  if (exists && !file_system::may_write(file_)) fail(errno);
  temporary_ = temporary_beside(file_);
  descriptor_ = file_system::open_new(temporary_);
  if (descriptor_ < 0) {
    temporary_.clear();
    fail(errno);
  }
  if (exists) file_system::copy_permissions(file_, descriptor_);
}

OutputFile::OutputFile(int descriptor, std::string_view name)
    : name_(name), descriptor_(descriptor), owned_(false) {}

OutputFile::~OutputFile() {
  if (owned_ && descriptor_ >= 0) file_system::close(descriptor_);
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove(temporary_, ignored);
}

void OutputFile::write(const void* data, std::size_t bytes) {
  // Linux writes less than 2 GiB in one call.
  constexpr std::size_t largest_write = std::size_t{1} << 30;
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const std::ptrdiff_t written =
        file_system::write(descriptor_, next, std::min(bytes, largest_write));
    if (written < 0) fail(errno);
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void OutputFile::commit() {
  if (!temporary_.empty() && !file_system::sync(descriptor_)) fail(errno);
  if (owned_) {
    const bool is_closed = file_system::close(descriptor_);
    descriptor_ = -1;
    if (!is_closed) fail(errno);
  }
  if (temporary_.empty()) return;
  if (!file_system::replace(temporary_, file_)) fail(errno);
  temporary_.clear();
}

void OutputFile::fail(int error) const {
  throw std::system_error(error, std::generic_category(), format_text("cannot write {}", name_));
}

void make_folders(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw std::system_error(error, format_text("cannot make folder {}", folder.string()));
}

void check_writable(const std::filesystem::path& file, Folders folders) {
  std::error_code ignored;
  const auto fail = [&](int reason) {
    throw std::system_error(reason, std::generic_category(),
                            format_text("cannot write {}", file.string()));
  };
  const auto status = std::filesystem::status(file, ignored);
  if (std::filesystem::is_directory(status)) fail(EISDIR);
  if (std::filesystem::exists(status) && !file_system::may_write(file)) fail(errno);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return;
  std::filesystem::path folder = std::filesystem::absolute(resolved(file)).parent_path();
  if (folders == Folders::are_made) {
    while (!std::filesystem::exists(folder, ignored) && folder.has_relative_path())
      folder = folder.parent_path();
  }
  if (!file_system::may_create_in(folder)) fail(errno);
}

}  // namespace posenc
