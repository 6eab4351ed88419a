#include "model/setup/registry_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "model/base/last_error.h"

namespace verbs::doca_comm::model {

namespace {

constexpr const char* kShared = "/dev/shm";
constexpr const char* kName = "verbs-doca-comm";

std::string user_name(uid_t uid) {
  char buffer[4096];
  passwd entry;
  passwd* found = nullptr;
  const bool known = getpwuid_r(uid, &entry, buffer, sizeof buffer, &found) == 0 && found;
  return (known ? std::string(found->pw_name) + " (" : "with the number ") + std::to_string(uid) + (known ? ")" : "");
}

std::string refusal(const std::string& path, const struct stat& status) {
  if (!S_ISDIR(status.st_mode)) return path + " is not a directory";
  if (status.st_uid != geteuid()) return path + " belongs to user " + user_name(status.st_uid);
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(status.st_mode & 07777));
  return path + " can be accessed by others (mode " + mode + "); \"chmod 700\" it";
}

// Opens a directory that is the user's own and nobody else's. 0, ENOENT, or EACCES with the reason in last_error().
// What is checked is what was opened: the path may lead elsewhere a moment later.
int open_own(const std::string& path, RegistryDirectory* directory) {
  Descriptor descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const int error = errno;
  struct stat status;
  if (descriptor.is_open() && fstat(descriptor.get(), &status) == 0 && status.st_uid == geteuid() &&
      (status.st_mode & 077) == 0) {
    *directory = {std::move(descriptor), path};
    return 0;
  }
  if (error == ENOENT && !descriptor.is_open()) return ENOENT;
  if (!descriptor.is_open() && error != EACCES && error != ELOOP && error != ENOTDIR) {
    last_error() = path + ": " + std::strerror(error);
    return error;
  }
  if (lstat(path.c_str(), &status) == 0) last_error() = refusal(path, status);
  return EACCES;
}

// The same, and creates it if it is missing.
int open_or_create(const std::string& path, bool create, RegistryDirectory* directory) {
  if (create && mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    const int error = errno;
    last_error() = path + " cannot be created: " + std::strerror(error);
    return error;
  }
  return open_own(path, directory);
}

// The user's own directory of XDG_RUNTIME_DIR, in which nobody else can create anything; else empty.
std::string runtime_directory() {
  const char* path = std::getenv("XDG_RUNTIME_DIR");
  struct stat status;
  // The variable may name the directory of another user, or one that does not exist.
  const bool own = path && stat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
                   (status.st_mode & 022) == 0;
  return own ? path : "";
}

// The paths in /dev/shm that begin with `prefix`, sorted.
std::vector<std::string> shared_paths(const std::string& prefix) {
  std::vector<std::string> paths;
  const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir(kShared), closedir);
  while (const dirent* entry = all ? readdir(all.get()) : nullptr) {
    if (std::strncmp(entry->d_name, prefix.c_str(), prefix.size()) == 0) {
      paths.push_back(std::string(kShared) + "/" + entry->d_name);
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// A directory with a name that nobody could know before.
int create_shared(const std::string& prefix, RegistryDirectory* directory) {
  std::string path = std::string(kShared) + "/" + prefix + "XXXXXX";
  if (!mkdtemp(path.data())) {
    const int error = errno;
    // Who is in the way is known already.
    last_error() += ", and no other directory can be created there: " + std::string(std::strerror(error));
    return error;
  }
  return open_own(path, directory);
}

}  // namespace

int RegistryDirectory::open_all(bool create, std::vector<RegistryDirectory>* directories) {
  directories->clear();
  RegistryDirectory found;
  if (const std::string runtime = runtime_directory(); !runtime.empty()) {
    const int error = open_or_create(runtime + "/" + kName, create, &found);
    if (error == 0) directories->push_back(std::move(found));
    return error;
  }
  const std::string name = std::string(kName) + "-" + std::to_string(geteuid());
  const std::string others = name + "-";
  if (open_or_create(std::string(kShared) + "/" + name, create, &found) == 0) directories->push_back(std::move(found));
  for (const std::string& path : shared_paths(others)) {
    RegistryDirectory other;
    const std::string kept = last_error();
    if (open_own(path, &other) == 0) directories->push_back(std::move(other));
    last_error() = kept;  // what others have there does not matter
  }
  if (!directories->empty() || !create) {
    last_error().clear();
    return directories->empty() ? ENOENT : 0;
  }
  if (const int failed = create_shared(others, &found)) return failed;
  last_error().clear();
  directories->push_back(std::move(found));
  return 0;
}

}  // namespace verbs::doca_comm::model
