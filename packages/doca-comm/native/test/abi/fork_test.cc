// fork() while threads open devices and use endpoints: every lock of the model is free in the child, and no fork hangs.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "../../../../soft/native/test/fork_under_load.h"
#include "test/support/pair.h"

using namespace verbs::doca_comm::model::test;

#ifndef __SANITIZE_THREAD__  // which does not follow locks that are held over fork()
namespace {

doca_devinfo* infos[2];

template <int index>
void use_device() {
  doca_dev* dev = nullptr;
  if (doca_dev_open(infos[index], &dev) != DOCA_SUCCESS) return;
  Ep* ep = nullptr;
  if (doca_comm_channel_ep_create(&ep) == DOCA_SUCCESS) {
    doca_comm_channel_ep_set_device(ep, dev);
    doca_comm_channel_ep_destroy(ep);
  }
  doca_dev_close(dev);
}

void list_devices() {
  doca_devinfo** list = nullptr;
  std::uint32_t count = 0;
  if (doca_devinfo_create_list(&list, &count) == DOCA_SUCCESS) doca_devinfo_destroy_list(list);
}

// The parent holds the address on and off; without it the child opens the device itself.
bool works_in_child() {
  list_devices();
  doca_dev* dev = nullptr;
  const doca_error_t error = doca_dev_open(infos[0], &dev);
  Ep* ep = nullptr;
  return (error != DOCA_SUCCESS || doca_dev_close(dev) == DOCA_SUCCESS) &&
         doca_comm_channel_ep_create(&ep) == DOCA_SUCCESS && doca_comm_channel_ep_destroy(ep) == DOCA_SUCCESS;
}

}  // namespace

TEST_CASE("a thousand forks while threads open and close devices, create endpoints and destroy them") {
  infos[0] = info_of("5f5f:03:00.0");
  infos[1] = info_of("5f5f:3b:00.0");
  CHECK(verbs::soft::test::fork_under_load(1000, {use_device<0>, use_device<1>, list_devices}, works_in_child) == 0);
}

// A lock that goes to whoever is there keeps a fork out while a thread opens and closes: the fork stands still, for
// seconds on a busy machine. By the order of their calls each thread has the lock at most once before the fork has it,
// and once more if it was about to call.
TEST_CASE("a fork has its turn among threads that open and close devices all the time") {
  infos[0] = info_of("5f5f:03:00.0");
  infos[1] = info_of("5f5f:3b:00.0");
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    static std::atomic<int> opens{0};
    for (int i = 0; i < 2; ++i) {
      std::thread([i] {
        for (doca_dev* dev = nullptr;; ++opens) {
          if (doca_dev_open(infos[i], &dev) != DOCA_SUCCESS || doca_dev_close(dev) != DOCA_SUCCESS) _exit(2);
        }
      }).detach();
    }
    std::vector<int> passed;
    for (int i = 0; i < 60; ++i) {
      const int before = opens;
      const pid_t pid = fork();
      if (pid == 0) _exit(0);
      passed.push_back(opens - before);
      if (pid < 0 || waitpid(pid, nullptr, 0) != pid) _exit(3);
    }
    std::sort(passed.begin(), passed.end());
    _exit(passed[passed.size() * 9 / 10] <= 4 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
#endif
