// The calls by which programs look at RDMA devices, in a process with the preloaded library.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

const std::string kDevice = "/sys/class/infiniband/sys0/";

std::string content(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::set<std::string> names(const std::string& path) {
  std::set<std::string> found;
  DIR* folder = opendir(path.c_str());
  REQUIRE(folder);
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') found.insert(entry->d_name);
  }
  closedir(folder);
  return found;
}

using Names = std::set<std::string>;

std::string first_line(FILE* file) {
  REQUIRE(file);
  char text[256] = "";
  REQUIRE(fgets(text, sizeof text, file));
  fclose(file);
  return text;
}

}  // namespace

TEST_CASE("the library is preloaded") { REQUIRE(std::getenv("VERBS_SOFT_SYSTEM") != nullptr); }

TEST_CASE("the nodes of devices are character devices that cannot be opened") {
  configure("sys0;sys1");
  CHECK(names("/dev/infiniband") == Names{"rdma_cm", "uverbs0", "uverbs1"});
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  REQUIRE(count == 2);
  const std::string node = std::string("/dev/infiniband/") + list[1]->dev_name;
  ibv_free_device_list(list);
  CHECK(node == "/dev/infiniband/uverbs1");

  struct stat status{};
  for (const auto call : {&stat, &lstat}) {
    REQUIRE(call(node.c_str(), &status) == 0);
    CHECK(S_ISCHR(status.st_mode));
    CHECK(status.st_rdev == makedev(231, 193));
  }
  struct statx more{};
  REQUIRE(statx(AT_FDCWD, node.c_str(), 0, STATX_ALL, &more) == 0);
  CHECK(S_ISCHR(more.stx_mode));
  CHECK(more.stx_rdev_minor == 193);
  const int folder = open("/dev/infiniband", O_RDONLY | O_DIRECTORY);
  REQUIRE(folder >= 0);
  REQUIRE(fstatat(folder, "uverbs0", &status, 0) == 0);
  CHECK(S_ISCHR(status.st_mode));
  CHECK(openat(folder, "uverbs0", O_RDWR) == -1);
  CHECK(errno == ENXIO);
  close(folder);

  CHECK(access(node.c_str(), R_OK | W_OK) == 0);
  CHECK(open(node.c_str(), O_RDWR) == -1);
  CHECK(errno == ENXIO);
  CHECK(fopen(node.c_str(), "r") == nullptr);
  CHECK(errno == ENXIO);
  CHECK(open("/dev/infiniband/uverbs7", O_RDWR) == -1);
  CHECK(errno == ENOENT);
  CHECK(fopen("/dev/infiniband/mlx5_perm_ctrl_local", "r") == nullptr);
  CHECK(errno == ENOENT);
  CHECK(stat("/dev/infiniband/uverbs7", &status) == -1);
  CHECK(errno == ENOENT);
  DIR* entries = opendir("/dev/infiniband");
  while (const dirent* entry = readdir(entries)) {
    if (entry->d_name[0] != '.') CHECK(entry->d_type == DT_CHR);
  }
  closedir(entries);
}

TEST_CASE("the files of a device have what the verbs report") {
  configure("sys0,addr=" + local_address(7) + ",mtu=1024");
  CHECK(names("/sys/class/infiniband") == Names{"sys0"});
  CHECK(names("/sys/class/infiniband_verbs") == Names{"abi_version", "uverbs0"});
  CHECK(content("/sys/class/infiniband_verbs/uverbs0/ibdev") == "sys0\n");
  const Context context = open_device("sys0");
  CHECK(content(kDevice + "node_type") == "1: CA\n");
  CHECK(content(kDevice + "ports/1/state") == "4: ACTIVE\n");
  CHECK(content(kDevice + "ports/1/link_layer") == "Ethernet\n");
  CHECK(content(kDevice + "ports/1/gid_attrs/types/0") == "RoCE v2\n");
  CHECK(content(kDevice + "ports/1/gid_attrs/ndevs/0") == "lo\n");
  CHECK(names(kDevice + "device/net") == Names{"lo"});
  CHECK(names(kDevice + "ports") == Names{"1"});

  ibv_gid gid;
  REQUIRE(ibv_query_gid(context.get(), 1, 0, &gid) == 0);
  char text[48];
  std::snprintf(text, sizeof text, "0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x\n", gid.raw[12], gid.raw[13],
                gid.raw[14], gid.raw[15]);
  CHECK(content(kDevice + "ports/1/gids/0") == text);
  CHECK(names(kDevice + "ports/1/gids").size() == 16);
  // The type of an entry that is empty cannot be read.
  CHECK(open((kDevice + "ports/1/gid_attrs/types/1").c_str(), O_RDONLY) == -1);
  CHECK(errno == EINVAL);
}

TEST_CASE("the files follow the device: counters, link, addresses, the list of devices") {
  configure("sys0;sys1");
  End from("sys0"), to("sys1");
  from.connect(to);
  to.connect(from);
  const std::string sent = kDevice + "ports/1/hw_counters/sent_pkts";
  const auto counted = [&] { return std::stoull(content(sent)); };  // by all processes until now
  const std::uint64_t before = counted(), own_before = counter("sys0", "sent_pkts");
  REQUIRE(to.post_recv(0, 64) == 0);
  REQUIRE(from.send(0, 64) == 0);
  CHECK(from.poll().status == IBV_WC_SUCCESS);
  CHECK(counted() - before == counter("sys0", "sent_pkts") - own_before);
  CHECK(counted() > before);
  CHECK(content(kDevice + "ports/1/counters/port_xmit_packets") == content(sent));

  REQUIRE(verbs_soft_set_link("sys0", 1, 0) == 0);
  CHECK(content(kDevice + "ports/1/state") == "1: DOWN\n");
  CHECK(content(kDevice + "ports/1/phys_state") == "3: Disabled\n");
  REQUIRE(verbs_soft_add_devices("sys2,ports=2") == 0);
  CHECK(names("/sys/class/infiniband") == Names{"sys0", "sys1", "sys2"});
  CHECK(names("/sys/class/infiniband/sys2/ports") == Names{"1", "2"});
}

TEST_CASE("every form of opening and reading finds the same file") {
  configure("sys0");
  const std::string path = kDevice + "board_id", expected = "VERBS_SOFT\n";
  CHECK(first_line(fopen(path.c_str(), "r")) == expected);
  CHECK(first_line(fopen64(path.c_str(), "r")) == expected);
  CHECK(first_line(fdopen(open(path.c_str(), O_RDONLY), "r")) == expected);
  CHECK(first_line(fdopen(open64(path.c_str(), O_RDONLY), "r")) == expected);
  CHECK(first_line(fopen("/sys//class/./infiniband/nothing/../sys0/board_id", "r")) == expected);
  const int folder = open(kDevice.c_str(), O_RDONLY | O_DIRECTORY);
  CHECK(first_line(fdopen(openat(folder, "board_id", O_RDONLY), "r")) == expected);
  CHECK(first_line(fdopen(openat64(folder, "ports/../board_id", O_RDONLY), "r")) == expected);
  CHECK(faccessat(folder, "board_id", R_OK, 0) == 0);
  close(folder);
  CHECK(lgetxattr(path.c_str(), "user.none", nullptr, 0) == -1);
  CHECK(errno != ENOENT);
  dirent** list = nullptr;
  const int count = scandir("/sys/class/infiniband", &list, nullptr, nullptr);
  CHECK(count == 3);  // with "." and ".."
  for (int i = 0; i < count; ++i) free(list[i]);
  free(list);
}

TEST_CASE("links, whole paths and the working directory have the names that the program knows") {
  configure("sys0");
  char text[PATH_MAX];
  const ssize_t length = readlink("/sys/class/infiniband/sys0", text, sizeof text);
  CHECK(std::string(text, static_cast<std::size_t>(std::max<ssize_t>(length, 0))) ==
        "../../devices/virtual/infiniband/sys0");
  const std::string real = "/sys/devices/virtual/infiniband/sys0";
  CHECK(std::string(realpath("/sys/class/infiniband/sys0", text)) == real);
  CHECK(content(real + "/board_id") == "VERBS_SOFT\n");
  CHECK(std::string(realpath("/sys/class/infiniband/sys0/ports/../..", text)) == "/sys/devices/virtual/infiniband");
  struct stat followed{};
  for (const char* end : {"/", "/.", "/ports/.."}) {
    REQUIRE(lstat(("/sys/class/infiniband/sys0" + std::string(end)).c_str(), &followed) == 0);
    CHECK(S_ISDIR(followed.st_mode));
  }
  const std::string before = getcwd(text, sizeof text);
  REQUIRE(chdir("/sys/class/infiniband/sys0/ports") == 0);
  CHECK(std::string(getcwd(text, sizeof text)) == real + "/ports");
  // In a room for this name, though not for the path of the folder itself.
  char small[48];
  CHECK(std::string(getcwd(small, sizeof small)) == real + "/ports");
  CHECK(getcwd(small, 20) == nullptr);
  CHECK(errno == ERANGE);
  const std::unique_ptr<char, decltype(&std::free)> made(getcwd(nullptr, sizeof small), &std::free);
  REQUIRE(made);
  CHECK(std::string(made.get()) == real + "/ports");
  CHECK(getcwd(nullptr, 20) == nullptr);
  CHECK(errno == ERANGE);
  CHECK(readlink("/proc/self/cwd", small, sizeof small) == static_cast<ssize_t>(real.size() + 6));
  CHECK(readlink("/proc/self/cwd", small, 4) == 4);
  CHECK(std::string(small, 4) == "/sys");
  CHECK(content("1/state") == "4: ACTIVE\n");
  struct stat status{};
  CHECK(stat("../board_id", &status) == 0);
  REQUIRE(chdir(before.c_str()) == 0);
  CHECK(stat("../board_id", &status) == -1);
}

TEST_CASE("who is in the tree itself, above the folders of devices, stays there") {
  configure("sys0");
  const int devices = open("/sys/class/infiniband", O_RDONLY | O_DIRECTORY);
  REQUIRE(devices >= 0);
  char target[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(devices);
  const long size = syscall(SYS_readlinkat, AT_FDCWD, link.c_str(), target, sizeof target);
  REQUIRE(size > 0);
  std::string root(target, static_cast<std::size_t>(size));
  root.resize(root.size() - std::strlen("/sys/class/infiniband"));
  const int fd = open(root.c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(fd >= 0);
  struct stat inside{}, outside{};
  CHECK(fstatat(fd, "etc", &inside, 0) == -1);
  for (const char* name : {"sys", "dev"}) {
    REQUIRE(fstatat(fd, name, &inside, 0) == 0);
    REQUIRE(stat(("/" + std::string(name)).c_str(), &outside) == 0);
    CHECK((inside.st_dev != outside.st_dev || inside.st_ino != outside.st_ino));
  }
  char text[PATH_MAX];
  const std::string before = getcwd(text, sizeof text);
  REQUIRE(chdir((root + "/sys/class").c_str()) == 0);
  CHECK(std::string(getcwd(text, sizeof text)) == root + "/sys/class");
  CHECK(stat("../kernel", &inside) == -1);
  CHECK(stat("../../etc", &inside) == -1);
  CHECK(stat("infiniband/sys0/board_id", &inside) == 0);
  REQUIRE(chdir(before.c_str()) == 0);
  close(fd);
  close(devices);
}

TEST_CASE("nothing can be written") {
  configure("sys0");
  CHECK(open((kDevice + "node_desc").c_str(), O_WRONLY) == -1);
  CHECK(errno == EACCES);
  CHECK(open((kDevice + "new").c_str(), O_RDONLY | O_CREAT, 0600) == -1);
  CHECK(errno == EACCES);
  CHECK(fopen((kDevice + "node_desc").c_str(), "r+") == nullptr);
  CHECK(errno == EACCES);
}

TEST_CASE("other paths are the kernel's") {
  configure("sys0");
  struct stat status{};
  REQUIRE(stat("/dev/null", &status) == 0);
  CHECK(status.st_rdev == makedev(1, 3));
  CHECK(content("/proc/sys/kernel/ostype") == "Linux\n");
  CHECK(names("/sys/class").count("net") == 1);
  CHECK(stat("/sys/class/infiniband_other", &status) == -1);
  CHECK(errno == ENOENT);
  errno = 0;
  CHECK(access("/", F_OK) == 0);
  CHECK(errno == 0);
  CHECK(stat("", &status) == -1);
  CHECK(errno == ENOENT);
}

TEST_CASE("a forked child has the files of its own NIC, and a program that it executes too") {
  configure("sys0");
  const std::string guid = content(kDevice + "node_guid");
  CHECK(guid.size() == 20);
  const pid_t child = fork();
  if (child == 0) {
    const std::string own = content(kDevice + "node_guid");
    if (own != guid) _exit(1);
    setenv("VERBS_SOFT", "after0", 1);
    execlp("test", "test", "-c", "/dev/infiniband/uverbs0", "-a", "-d", "/sys/class/infiniband/after0", nullptr);
    _exit(2);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
