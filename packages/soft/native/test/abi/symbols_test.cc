// The names and version nodes of what is exported.
#include <dlfcn.h>
#include <doctest/doctest.h>

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

TEST_CASE("both libibverbs export the 75 public names of the system's under the same nodes") {
  std::set<std::string> wanted;
  for (const std::string& name : symbols(VERBS_SYSTEM_LIBRARY)) {
    if (name.find("@@IBVERBS_1.") != std::string::npos) wanted.insert(name);
  }
  REQUIRE(wanted.size() >= 75);
  for (const char* library : {VERBS_DROP_IN, VERBS_PRIVATE}) {
    const std::set<std::string> ours = symbols(library);
    std::size_t public_names = 0;
    for (const std::string& name : ours) public_names += name.find("@@IBVERBS_1.") != std::string::npos;
    CHECK(public_names == 75);
    for (const std::string& name : ours) {
      CAPTURE(name);
      const bool own = name == "verbs_soft_marker@@VERBS_SOFT_1" || name == "verbs_soft_extension@@VERBS_SOFT_1" ||
                       name == "ibv_query_gid_type@@IBVERBS_PRIVATE_34";
      CHECK((own || wanted.count(name) == 1));
    }
    CHECK(ours.size() == 78);
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

TEST_CASE("an unknown version of the extension is NULL") {
  CHECK(verbs_soft_extension(VERBS_SOFT_EXTENSION_VERSION) != nullptr);
  CHECK(verbs_soft_extension(0) == nullptr);
  CHECK(verbs_soft_extension(VERBS_SOFT_EXTENSION_VERSION + 1) == nullptr);
}
