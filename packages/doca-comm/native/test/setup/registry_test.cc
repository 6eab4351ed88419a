// The registry of services: entries of dead processes are ignored, and so are files that no service wrote.
#include "model/setup/registry.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

using verbs::doca_comm::model::ServiceAddress;
using verbs::doca_comm::model::ServiceEntry;
namespace fs = std::filesystem;

namespace {

constexpr const char* kRepresentor = "0000:3b:00.0";
constexpr const char* kFile = "0000:3b:00.0-61";  // of the name "a"

// Sets XDG_RUNTIME_DIR to a temporary directory, and restores it.
class Runtime {
 public:
  Runtime() {
    if (const char* before = std::getenv("XDG_RUNTIME_DIR")) before_ = before;
    char path[] = "/tmp/verbs-registry-XXXXXX";
    REQUIRE(mkdtemp(path));
    path_ = path;
    use(path_);
  }
  ~Runtime() {
    fs::remove_all(path_);
    if (before_) {
      use(*before_);
    } else {
      unsetenv("XDG_RUNTIME_DIR");
    }
  }
  static void use(const fs::path& path) { REQUIRE(setenv("XDG_RUNTIME_DIR", path.c_str(), 1) == 0); }
  const fs::path& path() const { return path_; }
  fs::path directory() const { return path_ / "verbs-doca-comm"; }

 private:
  std::optional<std::string> before_;
  fs::path path_;
};

int add(std::unique_ptr<ServiceEntry>* entry, std::uint32_t qpn = 7) {
  return ServiceEntry::add(kRepresentor, "a", {.gid = {1, 2, 3}, .qpn = qpn, .key = {4, 5}}, entry);
}
int find(ServiceAddress* address) { return ServiceEntry::find(kRepresentor, "a", address); }
int find() {
  ServiceAddress address;
  return find(&address);
}

// Holds the lock of a living service.
class Locked {
 public:
  explicit Locked(const fs::path& path) : fd_(open(path.c_str(), O_RDWR)) {
    REQUIRE(fd_ >= 0);
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    REQUIRE(fcntl(fd_, F_OFD_SETLK, &lock) == 0);
  }
  ~Locked() { close(fd_); }

 private:
  int fd_;
};

}  // namespace

TEST_CASE("a service is found while its entry exists; a second one of the same name is EADDRINUSE") {
  const Runtime runtime;
  CHECK(find() == ENOENT);
  std::unique_ptr<ServiceEntry> entry, second;
  REQUIRE(add(&entry) == 0);
  struct stat status;
  REQUIRE(stat(runtime.directory().c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0700);
  ServiceAddress address;
  CHECK(find(&address) == 0);
  CHECK(address.gid[2] == 3);
  CHECK(address.qpn == 7);
  CHECK(address.key[1] == 5);
  CHECK(add(&second) == EADDRINUSE);
  CHECK(ServiceEntry::find("0000:3b:00.1", "a", &address) == ENOENT);
  CHECK(entry->intact());
  entry.reset();
  CHECK(find() == ENOENT);
  CHECK(fs::is_empty(runtime.directory()));
}

TEST_CASE("the entry of a dead process is ignored, and can be replaced") {
  const Runtime runtime;
  const pid_t child = fork();
  if (child == 0) {
    std::unique_ptr<ServiceEntry> entry;
    _exit(add(&entry, 1) == 0 && find() == 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  CHECK(fs::exists(runtime.directory() / kFile));
  CHECK(find() == ENOENT);
  std::unique_ptr<ServiceEntry> entry;
  CHECK(add(&entry, 2) == 0);
  ServiceAddress address;
  CHECK(find(&address) == 0);
  CHECK(address.qpn == 2);
}

TEST_CASE("a file that no service wrote is ignored, even if it is locked") {
  const Runtime runtime;
  REQUIRE(find() == ENOENT);
  const fs::path file = runtime.directory() / kFile;
  for (const std::size_t size : {0, 1, 43, 44, 100'000}) {
    CAPTURE(size);
    std::ofstream(file) << std::string(size, 'x');
    CHECK(find() == ENOENT);
    {
      const Locked locked(file);
      CHECK(find() == ENOENT);
      std::unique_ptr<ServiceEntry> entry;
      CHECK(add(&entry) == EADDRINUSE);
    }
    std::unique_ptr<ServiceEntry> entry;
    CHECK(add(&entry) == 0);
    CHECK(find() == 0);
  }
  fs::create_directory(file);
  CHECK(find() != 0);
  std::unique_ptr<ServiceEntry> entry;
  CHECK(add(&entry) != 0);
  fs::remove(file);
  const fs::path elsewhere = runtime.path() / "elsewhere";
  std::ofstream(elsewhere) << "precious";
  fs::create_symlink(elsewhere, file);
  CHECK(find() != 0);
  CHECK(add(&entry) != 0);
  CHECK(fs::file_size(elsewhere) == 8);
  fs::remove(file);
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  CHECK(find() != 0);
  CHECK(add(&entry) != 0);
}

TEST_CASE("a directory that others can access, or that is a link, is EACCES") {
  const Runtime runtime;
  std::unique_ptr<ServiceEntry> entry;
  fs::create_directory(runtime.directory());
  REQUIRE(chmod(runtime.directory().c_str(), 0755) == 0);
  CHECK(add(&entry) == EACCES);
  CHECK(find() == EACCES);
  fs::remove(runtime.directory());
  const fs::path other = runtime.path() / "other";
  fs::create_directory(other);
  REQUIRE(chmod(other.c_str(), 0700) == 0);
  fs::create_directory_symlink(other, runtime.directory());
  CHECK(add(&entry) == EACCES);
}

TEST_CASE("a runtime directory that does not exist, or is another user's, is not used") {
  const Runtime runtime;
  Runtime::use(runtime.path() / "gone");
  std::unique_ptr<ServiceEntry> entry;
  const std::string name = "registry test " + std::to_string(getpid());
  CHECK(ServiceEntry::add(kRepresentor, name, {}, &entry) == 0);
  ServiceAddress address;
  CHECK(ServiceEntry::find(kRepresentor, name, &address) == 0);
  unsetenv("XDG_RUNTIME_DIR");
  CHECK(ServiceEntry::find(kRepresentor, name, &address) == 0);
  if (geteuid() == 0) {
    const fs::path foreign = runtime.path() / "foreign";
    fs::create_directory(foreign);
    REQUIRE(chown(foreign.c_str(), 12345, 12345) == 0);
    Runtime::use(foreign);
    CHECK(ServiceEntry::find(kRepresentor, name, &address) == 0);
    CHECK(fs::is_empty(foreign));
  }
}
