// The names and version nodes of the exported symbols.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "include/verbs_soft_extension.h"

namespace {

// The names of a library's symbols with their nodes, "ibv_reg_mr@@IBVERBS_1.1", and without: "execute_ioctl".
std::set<std::string> symbols(const std::string& library) {
  const std::string command = "nm -D --defined-only --with-symbol-versions '" + library + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  REQUIRE(pipe);
  std::set<std::string> names;
  char line[512];
  while (std::fgets(line, sizeof line, pipe.get())) {
    std::istringstream in(line);
    std::string address, type, name;
    if (!(in >> address >> type >> name) || type == "A") continue;
    const bool hidden = name.find('@') != std::string::npos && name.find("@@") == std::string::npos;
    if (!hidden) names.insert(name);
  }
  return names;
}

std::string without_node(const std::string& name) { return name.substr(0, name.find('@')); }

}  // namespace

TEST_CASE("both libibverbs export the public names of libibverbs 65 under its nodes, and the private ones under none") {
  const std::set<std::string> system = symbols(VERBS_SYSTEM_LIBRARY);
  const auto count = [](const std::set<std::string>& names, const char* node) {
    return std::count_if(names.begin(), names.end(),
                         [&](const std::string& name) { return name.find(node) != std::string::npos; });
  };
  REQUIRE(count(system, "@@IBVERBS_1.") >= 75);
  for (const char* library : {VERBS_DROP_IN, VERBS_PRIVATE}) {
    const std::set<std::string> ours = symbols(library);
    CHECK(count(ours, "@@IBVERBS_1.") == 94);
    CHECK(count(ours, "@@VERBS_SOFT_1") == 4);
    CHECK(count(ours, "@@IBVERBS_PRIVATE_") == 0);
    // Those of 44, 21 that came later, and the registrations of 66 numbers.
    CHECK(count(ours, "@") == 98);
    CHECK(ours.size() == 98 + 70 + 21 + 66);
    for (const std::string& name : system) {
      if (name.find("@@IBVERBS_PRIVATE_") == std::string::npos) {
        CHECK_MESSAGE(ours.count(name) == 1, name);
      } else {
        CHECK_MESSAGE(ours.count(without_node(name)) == 1, name);
      }
    }
    // Nothing of C++ and no name of our own leaves the library.
    for (const std::string& name : ours) {
      const bool expected = name.find('@') != std::string::npos || name.find("ibv_") != std::string::npos ||
                            name.find("verbs") != std::string::npos || name.find("ioctl") != std::string::npos;
      CHECK_MESSAGE(expected, name);
      CHECK_MESSAGE(name.rfind("_Z", 0) == std::string::npos, name);
      CHECK_MESSAGE(name.rfind("soft_", 0) == std::string::npos, name);
    }
  }
}

TEST_CASE("a program that asks for a versioned name gets it") {
  void* library = dlopen(VERBS_PRIVATE, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  CHECK(dlvsym(library, "ibv_reg_mr", "IBVERBS_1.1"));
  CHECK(dlvsym(library, "ibv_create_comp_channel", "IBVERBS_1.0"));
  CHECK(dlvsym(library, "ibv_alloc_buf", "IBVERBS_1.17"));
  CHECK(dlsym(library, "verbs_soft_marker"));
  dlclose(library);
}

TEST_CASE("a vendor's driver may register and gets nothing done") {
  void* library = dlopen(VERBS_PRIVATE, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  const auto function = [&](const char* name) { return dlsym(library, name); };
  reinterpret_cast<void (*)(const void*)>(function("verbs_register_driver_34"))(nullptr);
  reinterpret_cast<void (*)(const void*)>(function("verbs_register_driver_65"))(nullptr);
  CHECK(reinterpret_cast<int (*)(ibv_pd*)>(function("ibv_cmd_dealloc_pd"))(nullptr) == EOPNOTSUPP);
  CHECK(reinterpret_cast<int (*)(ibv_context*, void*)>(function("execute_ioctl"))(nullptr, nullptr) == EOPNOTSUPP);
  ibv_send_wr wr{}, *bad = nullptr;
  const auto post = reinterpret_cast<int (*)(ibv_qp*, ibv_send_wr*, ibv_send_wr**)>(function("ibv_cmd_post_send"));
  CHECK(post(nullptr, &wr, &bad) == EOPNOTSUPP);
  CHECK(bad == &wr);
  CHECK_FALSE(*static_cast<bool*>(function("verbs_allow_disassociate_destroy")));
  using Log = void (*)(verbs_context*, std::uint32_t, const char*, ...);
  reinterpret_cast<Log>(function("__verbs_log"))(nullptr, 1, "%d %s", 1, "text");
  dlclose(library);
}

TEST_CASE("an unknown version of the extension is NULL") {
  CHECK(verbs_soft_extension(VERBS_SOFT_EXTENSION_VERSION) != nullptr);
  CHECK(verbs_soft_extension(0) == nullptr);
  CHECK(verbs_soft_extension(VERBS_SOFT_EXTENSION_VERSION + 1) == nullptr);
}
