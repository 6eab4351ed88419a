// Texts and rates are those of the system's libibverbs.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <infiniband/verbs.h>

#include <string>

namespace {

template <typename Function>
Function* system_function(const char* name, Function*) {
  static void* library = dlopen(VERBS_SYSTEM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  auto* function = reinterpret_cast<Function*>(dlsym(library, name));
  REQUIRE(static_cast<bool>(function));
  return function;
}

// `ours` and the system's function of that name agree from `low` to `high`.
template <typename Result, typename Argument>
void compare(const char* name, Result (*ours)(Argument), int low, int high) {
  auto* theirs = system_function(name, ours);
  const bool another = theirs != ours;
  REQUIRE(another);
  for (int value = low; value <= high; ++value) {
    CAPTURE(value);
    if constexpr (std::is_same_v<Result, const char*>) {
      CHECK(std::string(ours(static_cast<Argument>(value))) == theirs(static_cast<Argument>(value)));
    } else if (ours(static_cast<Argument>(value)) != theirs(static_cast<Argument>(value))) {
      CHECK(ours(static_cast<Argument>(value)) == theirs(static_cast<Argument>(value)));
    }
  }
}

}  // namespace

TEST_CASE("texts of enumerations") {
  compare("ibv_wc_status_str", ibv_wc_status_str, -2, 40);
  compare("ibv_event_type_str", ibv_event_type_str, -2, IBV_EVENT_WQ_FATAL);  // the last one of release 44
  compare("ibv_node_type_str", ibv_node_type_str, -2, 20);
  compare("ibv_port_state_str", ibv_port_state_str, -2, 20);
}

TEST_CASE("rates") {
  compare("ibv_rate_to_mult", ibv_rate_to_mult, -1, 40);
  compare("ibv_rate_to_mbps", ibv_rate_to_mbps, -1, 40);
  compare("mult_to_ibv_rate", mult_to_ibv_rate, -2, 1000);
  compare("mbps_to_ibv_rate", mbps_to_ibv_rate, -2, 1300000);
}
