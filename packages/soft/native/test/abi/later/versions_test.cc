// Programs and drivers of every release on one library: nodes of their own, and structures of the size that they know.
#include <dlfcn.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "abi/objects/later.h"
#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;
namespace later = verbs::soft::abi::later;

TEST_CASE("a driver of a release to come loads, registers and gets nothing done") {
  void* driver = dlopen(VERBS_FUTURE_DRIVER, RTLD_NOW | RTLD_LOCAL);
  REQUIRE_MESSAGE(driver != nullptr, std::string(dlerror()));
  const auto call = [&](const char* name) { return reinterpret_cast<int (*)()>(dlsym(driver, name))(); };
  CHECK(call("future_registered") == 1);
  CHECK(call("future_command") == EOPNOTSUPP);
  const auto text = reinterpret_cast<const char* (*)(int)>(dlsym(driver, "future_text"));
  CHECK(std::string(text(14)) == "flush");
  dlclose(driver);
}

TEST_CASE("a port's attributes fill what the program has, and no byte more") {
  configure("v0");
  const Context context = open_device("v0");
  const verbs_context* verbs = verbs_get_ctx(context.get());
  REQUIRE(verbs);
  std::array<std::uint8_t, 128> bytes{};
  // Before 1.1, releases 44 and 49, and one that knows more than we do.
  for (const std::size_t size : {std::size_t{48}, std::size_t{52}, std::size_t{56}, std::size_t{100}}) {
    bytes.fill(0xaa);
    REQUIRE(verbs->query_port(context.get(), 1, reinterpret_cast<ibv_port_attr*>(bytes.data()), size) == 0);
    CHECK(std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(size), bytes.end(),
                      [](std::uint8_t byte) { return byte == 0xaa; }));
    const auto* attr = reinterpret_cast<const ibv_port_attr*>(bytes.data());
    CHECK(attr->state == IBV_PORT_ACTIVE);
    const auto* newer = reinterpret_cast<const later::PortAttr*>(bytes.data());
    if (size >= sizeof *newer) CHECK(newer->active_speed_ex == attr->active_speed);
    if (size == 100) CHECK(std::all_of(&bytes[56], &bytes[100], [](std::uint8_t byte) { return byte == 0; }));
  }
  std::uint64_t speed = 0;
  CHECK(ibv_query_port_speed(context.get(), 1, &speed) == 0);
  CHECK(speed == 1000);  // 100 Gb/s
  CHECK(ibv_query_port_speed(context.get(), 2, &speed) == EINVAL);
  CHECK(ibv_query_port_speed(context.get(), 257, &speed) == EINVAL);
}

TEST_CASE("a context has room for the functions of release 65, and has none of them") {
  configure("v0");
  const Context context = open_device("v0");
  const verbs_context* verbs = verbs_get_ctx(context.get());
  REQUIRE(verbs);
  CHECK(verbs->sz == later::kVerbsContextSize);
  // As verbs_get_ctx_op() of that release looks for one.
  void* const* front = reinterpret_cast<void* const*>(reinterpret_cast<const char*>(context.get()) +
                                                      sizeof(ibv_context) - later::kVerbsContextSize);
  for (int op = 0; op < 6; ++op) CHECK(front[op] == nullptr);
}
