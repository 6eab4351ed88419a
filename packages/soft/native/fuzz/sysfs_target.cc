// ibv_read_sysfs_file for a device of ours: any folder and file below it, into a buffer of any size.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <infiniband/verbs.h>
#include <net/if.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "fuzz/check.h"
#include "fuzz/input.h"

using namespace verbs::soft::fuzz;

namespace {

// One interface with an IPv4 address, one with an IPv6 address, and one without an address.
struct MadeInterfaces {
  char names[3][6] = {"made0", "made1", "made2"};
  sockaddr_in ipv4{};
  sockaddr_in6 ipv6{};
  ifaddrs entries[3] = {};

  MadeInterfaces() {
    ipv4.sin_family = AF_INET;
    ipv4.sin_addr.s_addr = htonl(0x0a000001);
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_addr = {{{0xfd}}};
    for (std::size_t i = 0; i < 3; ++i) {
      entries[i].ifa_name = names[i];
      entries[i].ifa_next = i < 2 ? &entries[i + 1] : nullptr;
    }
    entries[0].ifa_addr = reinterpret_cast<sockaddr*>(&ipv4);
    entries[1].ifa_addr = reinterpret_cast<sockaddr*>(&ipv6);
  }
};

}  // namespace

// In place of libc's: the same on every machine, and half of the time of an execution went to the kernel's answers.
extern "C" int getifaddrs(ifaddrs** list) noexcept {
  static MadeInterfaces interfaces;
  *list = interfaces.entries;
  return 0;
}
extern "C" void freeifaddrs(ifaddrs*) noexcept {}
extern "C" unsigned if_nametoindex(const char*) noexcept { return 1; }

extern "C" int ibv_read_sysfs_file(const char* dir, const char* file, char* buf, size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Before the first call of the library, so that the device does not depend on the environment.
  static const int configured = setenv("VERBS_SOFT", "soft0;other", 1);
  FUZZ_CHECK(configured == 0);
  Input input(data, size);
  const std::size_t room = input.byte();
  const std::string below = input.one_in(2) ? "" : "/" + std::string(input.one_in(2) ? "ports/1" : "x");
  const std::string file(input.text());
  std::vector<char> buffer(room + 1, '\x5a');
  const std::string folder = "/sys/class/infiniband/soft0" + below;
  const int length = ibv_read_sysfs_file(folder.c_str(), file.c_str(), buffer.data(), room);
  FUZZ_CHECK(length >= -1 && length <= static_cast<int>(room));
  FUZZ_CHECK(buffer[room] == '\x5a');
  return 0;
}
