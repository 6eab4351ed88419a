// verbs_soft.h: counters, faults, captures.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

void transfer(End& a, End& b, int messages, std::uint32_t size) {
  for (int i = 0; i < messages; ++i) {
    REQUIRE(b.post_recv(0, size) == 0);
    REQUIRE(a.send(0, size) == 0);
    CHECK(b.poll().status == IBV_WC_SUCCESS);
    CHECK(a.poll().status == IBV_WC_SUCCESS);
  }
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("counters are there before, while and after a device is open, and add up") {
  configure("c,link=process;d,link=process");
  CHECK(counter("c", "sent_pkts") == 0);
  std::uint64_t sent = 0;
  for (int turn = 1; turn <= 2; ++turn) {
    {
      End a("c"), b("d");
      a.connect(b);
      b.connect(a);
      transfer(a, b, 4, 4096);
      CHECK(counter("c", "sent_pkts") >= sent + 16);
      CHECK(counter("c", "link_process_sent") + counter("c", "handed_over_pkts") == counter("c", "sent_pkts"));
      CHECK(counter("c", "handed_over_pkts") > 0);
      sent = counter("c", "sent_pkts");
    }
    CHECK(counter("c", "sent_pkts") == sent);
  }
  CHECK(verbs_soft_stats("nobody", [](void*, const char*, std::uint64_t) {}, nullptr) == ENODEV);
  CHECK(std::string(verbs_soft_last_error()).find("nobody") != std::string::npos);
}

TEST_CASE("a text that is refused leaves the devices as they are") {
  configure("kept0;kept1");
  CHECK(verbs_soft_configure("other0,mtu=7") == EINVAL);
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  REQUIRE(list);
  REQUIRE(count == 2);
  CHECK(std::string(ibv_get_device_name(list[0])) == "kept0");
  ibv_free_device_list(list);
}

TEST_CASE("faults come and go while traffic flows, and everything still arrives") {
  configure("f,drop=0.1,duplicate=0.1,seed=5;g");
  End a("f"), b("g");
  a.connect(b, 13);  // 8 times 34 ms: more than a busy machine keeps a thread waiting
  b.connect(a, 13);
  transfer(a, b, 20, 8192);
  const std::uint64_t dropped = counter("f", "fault_dropped");
  CHECK(dropped > 0);
  CHECK(counter("f", "retransmitted_pkts") > 0);
  CHECK(verbs_soft_set_faults("f", "reorder=0.2,delay=50,jitter=50") == 0);
  transfer(a, b, 10, 8192);
  CHECK(counter("f", "fault_delayed") > 0);
  CHECK(verbs_soft_set_faults("f", "") == 0);
  transfer(a, b, 10, 8192);
  CHECK(counter("f", "fault_dropped") == dropped);
  CHECK(verbs_soft_set_faults("f", "drop=7") == EINVAL);
  CHECK(verbs_soft_set_faults("nobody", "") == ENODEV);
}

TEST_CASE("a capture has the frames of both directions") {
  configure("h;i");
  char folder[] = "/tmp/verbs-soft-capture-XXXXXX";
  REQUIRE(mkdtemp(folder));
  const std::string pattern = std::string(folder) + "/%d-%p.pcapng";
  const std::string path = std::string(folder) + "/h-" + std::to_string(getpid()) + ".pcapng";
  {
    CHECK(verbs_soft_capture_start("h", pattern.c_str(), 0, 0) == 0);  // from the next open on
    CHECK(access(path.c_str(), F_OK) != 0);
    End a("h"), b("i");
    a.connect(b);
    b.connect(a);
    std::memset(a.memory.data(), 'x', 1000);
    std::memcpy(a.memory.data(), "find me", 7);
    transfer(a, b, 1, 1000);
    CHECK(verbs_soft_capture_stop("h") == 0);
    const std::string content = read_file(path);
    CHECK(content.substr(0, 4) == "\x0a\x0d\x0d\x0a");
    CHECK(content.find("find me") != std::string::npos);
    const std::size_t size = content.size();
    transfer(a, b, 1, 1000);
    CHECK(read_file(path).size() == size);
    // Once more while the device is open, in place of a running one.
    CHECK(verbs_soft_capture_start("h", path.c_str(), 0, 64) == 0);
    CHECK(verbs_soft_capture_start("h", path.c_str(), 0, 64) == 0);
    transfer(a, b, 1, 1000);
    CHECK(verbs_soft_set_faults("h", "delay=1") == 0);  // the capture continues behind the plan
    transfer(a, b, 1, 1000);
  }
  CHECK(read_file(path).size() > 0);
  CHECK(read_file(path).size() < 2000);
  {
    const End end("h");
    CHECK(verbs_soft_capture_start("h", path.c_str(), 0, 0) == 0);
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
      (void)!write(ends[1], "", 1);
      pause();
      _exit(0);
    }
    char there = 0;
    REQUIRE(read(ends[0], &there, 1) == 1);
    for (const int end_of_pipe : ends) close(end_of_pipe);
    // A child that lives on does not keep the file.
    CHECK(verbs_soft_capture_stop("h") == 0);
    CHECK(verbs_soft_capture_start("h", path.c_str(), 0, 0) == 0);
    kill(child, SIGKILL);
    CHECK(waitpid(child, nullptr, 0) == child);
  }
  unlink(path.c_str());

  rmdir(folder);
}

TEST_CASE("a capture file that cannot be written keeps its device from opening, with the reason") {
  struct Wrong {
    const char* path;
    int error;
  };
  for (const Wrong& wrong : {Wrong{"/no/such/folder/x", ENOENT}, Wrong{"/dev/full", ENOSPC}}) {
    configure(std::string("j,capture=") + wrong.path);
    ibv_device** list = ibv_get_device_list(nullptr);
    CHECK(ibv_open_device(list[0]) == nullptr);
    CHECK(errno == wrong.error);
    CHECK(std::string(verbs_soft_last_error()).find(wrong.path) != std::string::npos);
    ibv_free_device_list(list);
  }
}

TEST_CASE("devices can be added, under names that are free") {
  configure("one");
  CHECK(verbs_soft_add_devices("two,mtu=256;three") == 0);
  CHECK(verbs_soft_add_devices("two") == EEXIST);
  CHECK(verbs_soft_add_devices("four,mtu=1") == EINVAL);
  CHECK(std::string(verbs_soft_device_name(2)) == "three");
  CHECK(verbs_soft_device_name(3) == nullptr);
  CHECK(open_device("two") != nullptr);
}
