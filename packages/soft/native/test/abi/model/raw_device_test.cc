// Devices with raw packets: their ports and options, captures and faults, threads and forks.
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <thread>

#include "test/abi/support/frame_model.h"

using namespace verbs::soft::test;

TEST_CASE("a port that is down receives and sends nothing; faults apply to frames, too") {
  configure_frames();
  RawEnd a("f0"), b("f1");
  const Bytes frame = frame_of(b.mac(), a.mac(), 64);
  ibv_wc none;
  REQUIRE(b.post_recv(kReceiveAt, kRoom) == 0);
  REQUIRE(verbs_soft_set_link("f0", 1, 0) == 0);
  REQUIRE(a.send_frame(frame) == 0);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  CHECK(counter("f0", "link_dropped") == 1);
  REQUIRE(verbs_soft_set_link("f0", 1, 1) == 0);
  REQUIRE(verbs_soft_set_link("f1", 1, 0) == 0);
  REQUIRE(a.send_frame(frame, 0) == 0);
  while (counter("f1", "link_dropped") < 1) CHECK(ibv_poll_cq(b.cq, 1, &none) == 0);
  REQUIRE(verbs_soft_set_link("f1", 1, 1) == 0);
  REQUIRE(verbs_soft_set_faults("f0", "drop=1") == 0);
  REQUIRE(a.send_frame(frame, 0) == 0);
  CHECK(counter("f0", "fault_dropped") == 1);
  REQUIRE(verbs_soft_set_faults("f0", "duplicate=1,delay=100") == 0);
  REQUIRE(b.post_recv(kReceiveAt, kRoom) == 0);  // before the frames can be there
  REQUIRE(a.send_frame(frame, 0) == 0);
  CHECK(b.receive_frame() == frame);
  CHECK(b.receive_frame() == frame);
}

TEST_CASE("a capture has the frames as they pass the port, and RoCE packets beside them") {
  configure_frames(",link=process");
  const std::string path = "/tmp/verbs-frames-" + std::to_string(getpid()) + ".pcapng";
  REQUIRE(verbs_soft_capture_start("f0", path.c_str(), 0, 0) == 0);
  RawEnd a("f0"), b("f1");
  const Bytes frame = frame_of(b.mac(), a.mac(), 90);
  REQUIRE(b.post_recv(kReceiveAt, kRoom) == 0);
  REQUIRE(a.send_frame(frame, 0) == 0);
  CHECK(b.receive_frame() == frame);
  REQUIRE(verbs_soft_capture_stop("f0") == 0);
  REQUIRE(a.send_frame(frame_of(b.mac(), a.mac(), 91), 0) == 0);
  std::ifstream file(path, std::ios::binary);
  const Bytes captured{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  unlink(path.c_str());
  CHECK(std::ranges::search(captured, frame).size() == frame.size());
  const std::string name = "f0/1 Ethernet";
  CHECK(std::search(captured.begin(), captured.end(), name.begin(), name.end()) != captured.end());
  CHECK(std::ranges::search(captured, frame_of(b.mac(), a.mac(), 91)).empty());
}

TEST_CASE("a queue pair is destroyed while frames for it are in flight") {
  configure_frames();
  RawEnd a("f0");
  for (int round = 0; round < 20; ++round) {
    RawEnd b("f1");
    REQUIRE(b.post_recv(kReceiveAt, kRoom) == 0);
    for (int i = 0; i < 8; ++i) REQUIRE(a.send_frame(frame_of(b.mac(), a.mac(), 64), 0) == 0);
  }
}

TEST_CASE("only a model that is at work sends and delivers") {
  configure_frames();
  RawEnd a("f0");
  Bytes bytes(64);
  const verbs_soft_frame frame{.data = bytes.data(), .size = 64, .headroom = 0, .tailroom = 0};
  const verbs_soft_delivery none{};
  const ibv_device* device = a.context->device;
  std::uint8_t mac[6];
  CHECK(soft()->transmit_frame(a.context->device, 1, &frame) == EPERM);
  CHECK(soft()->deliver_frame(a.qp, &frame, &none) == EPERM);
  REQUIRE(soft()->lock_device(a.context.get()) == 0);
  CHECK(soft()->frame_limit(a.context->device, 1) == 4114);
  CHECK(soft()->frame_limit(a.context->device, 2) == 0);
  soft()->unlock_device(a.context.get());
  CHECK(soft()->port_mac(device, 0, mac) == EINVAL);
  CHECK(soft()->port_mac(device, 2, mac) == EINVAL);
  const Context two = open_device("f1");
  CHECK((mac_of(two.get(), 1)[0] & 3) == 2);
  CHECK(mac_of(two.get(), 1) != mac_of(two.get(), 2));
  CHECK(mac_of(two.get(), 1) != a.mac());
  // The model's own counter is among the others.
  CHECK(counter("f1", "frames_seen") == 0);
  REQUIRE(a.send_frame(frame_of(kGroup, a.mac(), 64)) == 0);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  ibv_cq* cq = ibv_create_cq(two.get(), 1, nullptr, nullptr, 0);
  ibv_wc wc;
  while (counter("f1", "frames_seen") < 2) CHECK(ibv_poll_cq(cq, 1, &wc) == 0);
}

TEST_CASE("switch and tap are for devices with raw packets, a tap for one port") {
  register_frame_model();
  configure("p,kind=frameless,switch=x;q,kind=frames");
  ibv_device** list = ibv_get_device_list(nullptr);
  REQUIRE(list);
  CHECK(list[0] != nullptr);
  CHECK(list[1] == nullptr);
  ibv_free_device_list(list);
  CHECK(std::string(verbs_soft_last_error()).find("switch= and tap= are for devices with raw packets") !=
        std::string::npos);
  for (const char* wrong :
       {"q,kind=frames,ports=2,tap=tap0", "q,kind=frames,tap=", "q,kind=frames,tap=a/b",
        "q,kind=frames,tap=sixteencharacter", "q,kind=frames,switch=", "q,kind=frames,learning=yes"}) {
    CAPTURE(wrong);
    CHECK(verbs_soft_configure(wrong) == EINVAL);
    CHECK(std::string(verbs_soft_last_error()).find("device q: ") != std::string::npos);
  }
}

TEST_CASE("a forked child has neither its parent's ports nor its switch") {
  configure_frames();
  RawEnd a("f0"), b("f1");
  REQUIRE(b.post_recv(kReceiveAt, kRoom) == 0);
  const Address parents = a.mac();
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    if (soft()->lock_device(a.context.get()) != EIO) _exit(1);
    if (a.send_frame(frame_of(kGroup, parents, 64)) != EIO) _exit(2);
#ifndef __SANITIZE_THREAD__  // which ends a forked child that starts a thread
    RawEnd mine("f0");
    if (mine.mac() == parents) _exit(3);
    if (mine.post_recv(kReceiveAt, kRoom) != 0) _exit(4);
    if (mine.send_frame(frame_of(kGroup, mine.mac(), 64), 0) != 0) _exit(5);
    if (mine.receive_frame().size() != 64) _exit(6);
    if (counter("f0", "link_switch_sent") != 1) _exit(7);
#endif
    _exit(0);
  }
  int status = -1;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  const Bytes frame = frame_of(b.mac(), a.mac(), 77);
  REQUIRE(a.send_frame(frame, 0) == 0);
  CHECK(b.receive_frame() == frame);
}

TEST_CASE("threads that send each other frames, and change what the steering reads") {
  configure_frames();
  RawEnd a("f0"), b("f1", 1), c("f1", 2);
  constexpr int kFrames = 500;
  const auto talk = [](RawEnd& from, const RawEnd& to) {
    for (int i = 0; i < kFrames; ++i) {
      ibv_wc wc[16];
      while (ibv_poll_cq(from.cq, 16, wc) > 0) {
      }
      static_cast<void>(from.post_recv(kReceiveAt, kRoom));
      CHECK(from.send_frame(frame_of(i % 5 == 0 ? kGroup : to.mac(), from.mac(), 64), IBV_SEND_SIGNALED) == 0);
      if (i % 50 != 0) continue;
      remove_receiver(from.qp);
      add_receiver({from.context->device, from.port, from.qp, {}});
    }
  };
  std::thread first([&] { talk(a, b); }), second([&] { talk(b, c); }), third([&] { talk(c, a); });
  first.join();
  second.join();
  third.join();
  CHECK(counter("f0", "raw_sent_frames") == kFrames);
  CHECK(counter("f1", "raw_sent_frames") == 2 * kFrames);
}
