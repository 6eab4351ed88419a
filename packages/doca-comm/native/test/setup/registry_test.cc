// The registry of services: entries of dead processes are ignored, and so are files that no service wrote.
#include "model/setup/registry.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "test/support/hostile.h"
#include "verbs_doca_control.h"

using namespace verbs::doca_comm::model::test;
using verbs::doca_comm::model::ServiceAddress;
using verbs::doca_comm::model::ServiceEntry;
namespace fs = std::filesystem;

namespace {

constexpr const char* kFile = "5f5f:3b:00.0-61";  // of the name "a"

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
  CHECK(ServiceEntry::find("5f5f:3b:00.1", "a", &address) == ENOENT);
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

TEST_CASE("what killed services left goes with the next service; living ones and other files stay") {
  const Runtime runtime;
  const auto add_as = [](const std::string& name, std::unique_ptr<ServiceEntry>* entry) {
    return ServiceEntry::add(kRepresentor, name, {}, entry);
  };
  const auto files = [&] { return std::distance(fs::directory_iterator(runtime.directory()), {}); };
  std::unique_ptr<ServiceEntry> living, next;
  REQUIRE(add_as("living", &living) == 0);
  const pid_t child = fork();
  if (child == 0) {
    std::unique_ptr<ServiceEntry> one, two;
    _exit(add_as("one", &one) == 0 && add_as("two", &two) == 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  CHECK(files() == 3);
  fs::create_symlink("nowhere", runtime.directory() / "link");
  CHECK(add_as("next", &next) == 0);
  CHECK(files() == 3);
  CHECK(fs::is_symlink(runtime.directory() / "link"));
  CHECK(living->intact());
  CHECK(next->intact());
}

TEST_CASE("services that come and go at the same time take nothing from each other") {
  const Runtime runtime;
  std::array<std::atomic<int>, 2> failed{};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < failed.size(); ++i) {
    threads.emplace_back([i, &failed] {
      for (int n = 0; n < 500; ++n) {
        std::unique_ptr<ServiceEntry> entry;
        const std::string name = std::to_string(i);
        failed[i] += ServiceEntry::add(kRepresentor, name, {}, &entry) != 0 || !entry->intact() ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failed[0] == 0);
  CHECK(failed[1] == 0);
}

TEST_CASE("a file that no service wrote is ignored, even if it is locked") {
  const Runtime runtime;
  REQUIRE(find() == ENOENT);
  REQUIRE(mkdir(runtime.directory().c_str(), 0700) == 0);
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

namespace {

constexpr uid_t kUser = 54321, kStranger = 54322;
constexpr const char* kShared = "/dev/shm/verbs-doca-comm-54321";

// Runs `act` as that user, in a child process without a runtime directory. True if it returns true.
template <typename Act>
bool as_user(uid_t uid, Act&& act) {
  const pid_t child = fork();
  if (child == 0) {
    unsetenv("XDG_RUNTIME_DIR");
    _exit(setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0 && act() ? 0 : 1);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

void remove_shared() {
  for (const auto& entry : fs::directory_iterator("/dev/shm")) {
    if (entry.path().string().rfind(kShared, 0) == 0) fs::remove_all(entry.path());
  }
}

// Two services, a second one of the same name, and a client.
bool registry_works() {
  std::unique_ptr<ServiceEntry> entry, second, other;
  ServiceAddress address;
  const bool works = find() == ENOENT && add(&entry, 7) == 0 && entry->intact() && add(&second) == EADDRINUSE &&
                     find(&address) == 0 && address.qpn == 7 && *verbs_doca_last_error() == 0 &&
                     ServiceEntry::add(kRepresentor, "other", {}, &other) == 0;
  entry.reset();
  return works && find() == ENOENT;
}

}  // namespace

TEST_CASE("another user who takes the name of the directory in /dev/shm holds up no service" *
          doctest::skip(geteuid() != 0)) {
  const auto taken = [](const std::string& path, mode_t mode) {
    CHECK(as_user(kStranger, [&] { return mkdir(path.c_str(), 0700) == 0 && chmod(path.c_str(), mode) == 0; }));
  };
  remove_shared();
  SUBCASE("nobody does") {}
  SUBCASE("with a directory") { taken(kShared, 0700); }
  SUBCASE("with a directory for everybody, and more of them beside it") {
    taken(kShared, 0777);
    for (const char* suffix : {"-000000", "-AAAAAA", "-zzzzzz"}) taken(kShared + std::string(suffix), 0777);
  }
  SUBCASE("with a link to a directory of the user") {
    REQUIRE(as_user(kUser, [] { return mkdir("/dev/shm/verbs-doca-comm-54321.own", 0700) == 0; }));
    REQUIRE(as_user(kStranger, [] { return symlink("/dev/shm/verbs-doca-comm-54321.own", kShared) == 0; }));
  }
  SUBCASE("with a file") {
    REQUIRE(as_user(kStranger, [] { return close(open(kShared, O_CREAT | O_WRONLY, 0600)) == 0; }));
  }
  CHECK(as_user(kUser, registry_works));
  // In another process, the next time: the directory that is there is found.
  CHECK(as_user(kUser, registry_works));
  remove_shared();
}

TEST_CASE("a service keeps its name when the directory beside it is given up or created meanwhile" *
          doctest::skip(geteuid() != 0)) {
  remove_shared();
  REQUIRE(as_user(kStranger, [] { return mkdir(kShared, 0700) == 0; }));
  CHECK(as_user(kUser, [] {
    std::unique_ptr<ServiceEntry> entry, second;
    // The stranger cannot be asked here; a test directory of the same user in its place is the same to the registry.
    return add(&entry, 7) == 0 && mkdir("/dev/shm/verbs-doca-comm-54321-000000", 0700) == 0 &&
           add(&second) == EADDRINUSE && find() == 0;
  }));
  remove_shared();
}

TEST_CASE("where nothing can be created, the reason says who holds the name" * doctest::skip(geteuid() != 0)) {
  const pid_t child = fork();
  if (child == 0) {
    // A /dev/shm of its own, in which users can create nothing.
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", "/dev/shm", "tmpfs", 0, "mode=0755") != 0) {
      _exit(77);  // a container may not allow this
    }
    if (mkdir(kShared, 0700) != 0 || chown(kShared, kStranger, kStranger) != 0) _exit(1);
    const bool said = as_user(kUser, [] {
      std::unique_ptr<ServiceEntry> entry;
      const std::string expected = std::string(kShared) + " belongs to user with the number 54322";
      return add(&entry) == EACCES && std::string(verbs_doca_last_error()).rfind(expected, 0) == 0;
    });
    _exit(said ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) {
    MESSAGE("skipped: /dev/shm cannot be mounted anew in this container");
  } else {
    CHECK(WEXITSTATUS(status) == 0);
  }
}
