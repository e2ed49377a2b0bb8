#include "posenc/support/atomic_file.h"

#include "posenc/support/file_system.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <system_error>

namespace posenc {
namespace {

/// The file behind symbolic links, so that the rename replaces the file and not a link to it. A
/// dangling link is returned unchanged.
std::filesystem::path resolved(const std::filesystem::path& file) {
  std::error_code ignored;
  std::filesystem::path target = std::filesystem::canonical(file, ignored);
  return target.empty() ? file : target;
}

constexpr std::string_view temporary_suffix = ".tmp";

/// The prefix of the names of a file's temporaries. The process and a serial number follow it.
std::string temporary_prefix(const std::filesystem::path& file) {
  return format_text(".{}.", file.filename().string());
}

/// The process that created the temporary; 0 if the name is not one of a temporary of this file.
int process_of(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(temporary_suffix)) return 0;
  if (name.size() < prefix.size() + temporary_suffix.size()) return 0;
  name.remove_prefix(prefix.size());
  name.remove_suffix(temporary_suffix.size());
  const char* const end = name.data() + name.size();
  int process = 0;
  unsigned serial = 0;
  const auto first = std::from_chars(name.data(), end, process);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-' || process <= 0) return 0;
  const auto second = std::from_chars(first.ptr + 1, end, serial);
  return second.ec == std::errc() && second.ptr == end ? process : 0;
}

/// Removes the temporaries of processes that no longer exist: a killed process leaves its own
/// behind.
void remove_stale_temporaries(const std::filesystem::path& file) {
  const std::string prefix = temporary_prefix(file);
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const int process = process_of(entry->path().filename().string(), prefix);
    const bool is_gone = process > 0 && file_system::is_gone(process);
    std::error_code ignored;
    if (is_gone && !file_system::is_held(entry->path()))
      std::filesystem::remove(entry->path(), ignored);
  }
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& file)
    : name_(file.string()), file_(resolved(file)) {
  std::error_code ignored;
  const auto existing = std::filesystem::status(file_, ignored);
  const bool exists = std::filesystem::exists(existing);
  if (std::filesystem::is_directory(existing)) fail(EISDIR);
  if (exists && !std::filesystem::is_regular_file(existing)) {
    descriptor_ = file_system::open_to_write(file_);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  // A rename needs no permission to write the file that it replaces, so it is checked here.
  if (exists && !file_system::may_write(file_)) fail(errno);
  open_temporary();
  if (exists) file_system::copy_permissions(file_, descriptor_);
}

OutputFile::OutputFile(int descriptor, std::string_view name)
    : name_(name), descriptor_(descriptor), owned_(false) {}

OutputFile::~OutputFile() {
  if (owned_ && descriptor_ >= 0) file_system::close(descriptor_);
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove(temporary_, ignored);
}

void OutputFile::open_temporary() {
  remove_stale_temporaries(file_);
  static std::atomic<unsigned> serial = 0;
  for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
    const auto name = format_text("{}{}-{}{}", temporary_prefix(file_), file_system::this_process(),
                                  serial++, temporary_suffix);
    temporary_ = file_.parent_path() / name;
    descriptor_ = file_system::open_new(temporary_);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) {
    temporary_.clear();
    fail(errno);
  }
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
  std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  if (folders == Folders::are_made) {
    while (!std::filesystem::exists(folder, ignored) && folder.has_relative_path())
      folder = folder.parent_path();
  }
  if (!file_system::may_create_in(folder)) fail(errno);
}

}  // namespace posenc
