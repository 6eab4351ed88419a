// ibv_read_sysfs_file for a device of ours: any folder and file below it, into a buffer of any size.
#include <infiniband/verbs.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "fuzz/check.h"
#include "fuzz/input.h"

using namespace verbs::soft::fuzz;

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
