#include "posenc/support/process.h"

#include <cstddef>

namespace posenc {

std::string content_of(std::FILE* file) {
  std::rewind(file);
  std::string content;
  char buffer[4096];
  while (const std::size_t size = std::fread(buffer, 1, sizeof buffer, file)) {
    content.append(buffer, size);
  }
  return content;
}

}  // namespace posenc
