#include "host/machine/machine.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "machine/folder.h"

namespace verbs::soft::host {

namespace {

// A program with the rights of another user (setuid) does not write where its environment says.
std::string find_folder() {
  const char* path = getauxval(AT_SECURE) == 0 ? std::getenv(machine::kVariable) : nullptr;
  if (!path || path[0] != '/') return {};
  struct stat status{};
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? path : "";
}

}  // namespace

const std::string& machine_folder() {
  static const auto* folder = new std::string(find_folder());  // outlives every thread
  return *folder;
}

void note_use() {
  static const bool kNoted = [] {
    // Its time tells: a program that gave up its rights, or may write no file, can set that.
    return !machine_folder().empty() && utimensat(AT_FDCWD, (machine_folder() + "/loaded").c_str(), nullptr, 0) == 0;
  }();
  static_cast<void>(kNoted);
}

bool may_be_long(std::size_t size) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= size;
}

}  // namespace verbs::soft::host
