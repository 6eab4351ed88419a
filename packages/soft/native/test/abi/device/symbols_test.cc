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

// "ibv_reg_mr@@IBVERBS_1.1" for every default symbol of a library.
std::set<std::string> symbols(const std::string& library) {
  const std::string command = "nm -D --defined-only --with-symbol-versions '" + library + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  REQUIRE(pipe);
  std::set<std::string> names;
  char line[512];
  while (std::fgets(line, sizeof line, pipe.get())) {
    std::istringstream in(line);
    std::string address, type, name;
    if (in >> address >> type >> name && name.find("@@") != std::string::npos && type != "A") names.insert(name);
  }
  return names;
}

}  // namespace

TEST_CASE("both libibverbs export the names of libibverbs 44 under its nodes, and three of their own") {
  const std::set<std::string> system = symbols(VERBS_SYSTEM_LIBRARY);
  const auto count = [](const std::set<std::string>& names, const char* node) {
    return std::count_if(names.begin(), names.end(),
                         [&](const std::string& name) { return name.find(node) != std::string::npos; });
  };
  REQUIRE(count(system, "@@IBVERBS_1.") >= 75);
  const bool same_private_abi = count(system, "@@IBVERBS_PRIVATE_34") > 0;
  for (const char* library : {VERBS_DROP_IN, VERBS_PRIVATE}) {
    const std::set<std::string> ours = symbols(library);
    CHECK(count(ours, "@@IBVERBS_1.") == 75);
    CHECK(count(ours, "@@IBVERBS_PRIVATE_34") == 71);
    CHECK(count(ours, "@@VERBS_SOFT_1") == 3);
    CHECK(ours.size() == 149);
    for (const std::string& name : ours) {
      CAPTURE(name);
      const bool is_private = name.find("@@IBVERBS_PRIVATE_34") != std::string::npos;
      const bool own = name.find("@@VERBS_SOFT_1") != std::string::npos || (is_private && !same_private_abi);
      CHECK((own || system.count(name) == 1));
    }
  }
}

TEST_CASE("a program that asks for a versioned name gets it") {
  void* library = dlopen(VERBS_PRIVATE, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  CHECK(dlvsym(library, "ibv_reg_mr", "IBVERBS_1.1"));
  CHECK(dlvsym(library, "ibv_create_comp_channel", "IBVERBS_1.0"));
  CHECK(dlvsym(library, "ibv_query_gid_type", "IBVERBS_PRIVATE_34"));
  CHECK(dlsym(library, "verbs_soft_marker"));
  dlclose(library);
}

TEST_CASE("a vendor's driver may register and gets nothing done") {
  void* library = dlopen(VERBS_PRIVATE, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  const auto function = [&](const char* name) { return dlvsym(library, name, "IBVERBS_PRIVATE_34"); };
  reinterpret_cast<void (*)(const void*)>(function("verbs_register_driver_34"))(nullptr);
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
