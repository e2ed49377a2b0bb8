#include "command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <system_error>

namespace posenc::test {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// Output goes to files and not to pipes: a child that says much on both can then never block.
File temporary_file() {
  File file(std::tmpfile(), &std::fclose);
  if (!file) throw std::system_error(errno, std::generic_category(), "tmpfile");
  return file;
}

std::string content_of(std::FILE* file) {
  std::rewind(file);
  std::string content;
  char buffer[4096];
  while (const std::size_t size = std::fread(buffer, 1, sizeof buffer, file)) content.append(buffer, size);
  return content;
}

std::vector<std::string> child_environment(const CommandOptions& options) {
  std::map<std::string, std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string entry = *each;
    const std::size_t equals = entry.find('=');
    if (!entry.starts_with("POSENC_")) variables[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  variables["POSENC_PROFILE"] = "/nonexistent/posenc/profile.json";
  for (const auto& [name, value] : options.environment) variables[name] = value;
  std::vector<std::string> entries;
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& each : strings) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

CommandResult run_posenc(const std::vector<std::string>& arguments, const CommandOptions& options) {
  std::vector<std::string> words = {POSENC_COMMAND};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = child_environment(options);
  const File out = temporary_file();
  const File err = temporary_file();

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (options.out_file.empty()) {
    posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), 1);
  } else {
    posix_spawn_file_actions_addopen(&actions, 1, options.out_file.c_str(), O_WRONLY | O_CREAT, 0644);
  }
  posix_spawn_file_actions_adddup2(&actions, fileno(err.get()), 2);
  pid_t child = 0;
  const int failure = posix_spawn(&child, words.front().c_str(), &actions, nullptr, pointers_to(words).data(),
                                  pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::system_error(failure, std::generic_category(), words.front());

  int status = 0;
  while (waitpid(child, &status, 0) == -1 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content_of(out.get()),
          content_of(err.get())};
}

}  // namespace posenc::test
