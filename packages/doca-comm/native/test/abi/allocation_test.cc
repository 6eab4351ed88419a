// Without memory a call fails with DOCA_ERROR_NO_MEMORY: the nth allocation of each call fails in turn.
#include "../../../../soft/native/test/abi/support/failing_new.h"
#include "test/support/pair.h"

using namespace verbs::doca_comm::model::test;
using namespace verbs::soft::test;

namespace {

// Runs the call until no allocation of it fails.
template <typename Call>
void until_it_succeeds(const std::string& name, const Call& call) {
  CAPTURE(name);
  for (int nth = 1;; ++nth) {
    CAPTURE(nth);
    fail_allocation(nth);
    const doca_error_t error = call();
    const bool failed = allocation_failed();
    fail_allocation(0);
    if (error == DOCA_SUCCESS) return;
    CHECK(error == DOCA_ERROR_NO_MEMORY);
    REQUIRE(failed);
    REQUIRE(nth < 10'000);
  }
}

}  // namespace

TEST_CASE("a call without memory fails with NO_MEMORY" * doctest::skip(!kAllocationsCanFail)) {
  doca_devinfo** list = nullptr;
  std::uint32_t count = 0;
  until_it_succeeds("create_list", [&] { return doca_devinfo_create_list(&list, &count); });
  until_it_succeeds("destroy_list", [&] { return doca_devinfo_destroy_list(list); });
  doca_devinfo* const info = info_of("0000:03:00.0");
  doca_dev* dpu = nullptr;
  until_it_succeeds("dev_open", [&] { return doca_dev_open(info, &dpu); });
  doca_devinfo_rep** reps = nullptr;
  until_it_succeeds("rep_create_list",
                    [&] { return doca_devinfo_rep_create_list(dpu, DOCA_DEVINFO_REP_FILTER_ALL, &reps, &count); });
  doca_dev_rep* rep = nullptr;
  until_it_succeeds("rep_open", [&] { return doca_dev_rep_open(reps[0], &rep); });
  CHECK(doca_devinfo_rep_destroy_list(reps) == DOCA_SUCCESS);
  Ep* ep = nullptr;
  until_it_succeeds("ep_create", [&] { return doca_comm_channel_ep_create(&ep); });
  until_it_succeeds("set_device", [&] { return doca_comm_channel_ep_set_device(ep, dpu); });
  until_it_succeeds("set_device_rep", [&] { return doca_comm_channel_ep_set_device_rep(ep, rep); });
  until_it_succeeds("listen", [&] { return doca_comm_channel_ep_listen(ep, "poor"); });
  until_it_succeeds("ep_destroy", [&] { return doca_comm_channel_ep_destroy(ep); });
  // Nothing was left behind that still uses them.
  until_it_succeeds("rep_close", [&] { return doca_dev_rep_close(rep); });
  until_it_succeeds("dev_close", [&] { return doca_dev_close(dpu); });
}
