// Raw packets and flows of the plain device, by the exported functions.
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "test/abi/support/dead_objects.h"
#include "test/abi/support/device_pair.h"
#include "test/abi/support/frame_model.h"
#include "verbs_soft_privilege.h"

using namespace verbs::soft::test;

namespace {

// A raw queue pair of a device without a model, in RTS.
struct FlowEnd : End {
  explicit FlowEnd(const std::string& device) : End(device, IBV_QPT_RAW_PACKET) {
    ibv_qp_attr attr{};
    attr.port_num = 1;
    for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
      attr.qp_state = state;
      REQUIRE(ibv_modify_qp(qp, &attr, IBV_QP_STATE | (state == IBV_QPS_INIT ? int{IBV_QP_PORT} : 0)) == 0);
    }
  }
  ibv_flow* take(ibv_flow_attr_type type = IBV_FLOW_ATTR_ALL_DEFAULT) {
    ibv_flow_attr attr{};
    attr.type = type;
    attr.port = 1;
    return ibv_create_flow(qp, &attr);
  }
  int send_frame(const Bytes& frame) {
    std::ranges::copy(frame, memory.begin());
    return send(0, static_cast<std::uint32_t>(frame.size()));
  }
  Bytes received(std::uint32_t size) {
    const auto from = memory.begin() + kReceiveAt;
    return {from, from + size};
  }
};

constexpr Address kOne{2, 0, 0, 0, 0, 1}, kTwo{2, 0, 0, 0, 0, 2};

// Runs call() in a child of its own, which exits with its result.
int in_child(const std::function<int()>& call) {
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) _exit(call());
  int status = -1;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("frames to a group reach the flows of the sender's device and of others") {
  configure("a;b");
  FlowEnd one("a"), two("a"), other("b");
  REQUIRE(two.take(IBV_FLOW_ATTR_MC_DEFAULT));
  REQUIRE(other.take());
  const Bytes frame = frame_of(kGroup, kOne, 200);
  for (FlowEnd* end : {&two, &other}) REQUIRE(end->post_recv(kReceiveAt, kRoom) == 0);
  REQUIRE(one.send_frame(frame) == 0);
  CHECK(one.poll().status == IBV_WC_SUCCESS);
  for (FlowEnd* end : {&two, &other}) {
    const ibv_wc wc = end->poll();
    CHECK(wc.status == IBV_WC_SUCCESS);
    CHECK(wc.opcode == IBV_WC_RECV);
    CHECK(wc.byte_len == 200);
    CHECK(end->received(200) == frame);
  }
  // A frame to an address that nobody is known to have floods to the other device, and then the way back is learned.
  REQUIRE(other.post_recv(kReceiveAt, kRoom) == 0);
  REQUIRE(one.send_frame(frame_of(kTwo, kOne, 100)) == 0);
  CHECK(other.poll().byte_len == 100);
  REQUIRE(two.post_recv(kReceiveAt, kRoom) == 0);
  REQUIRE(two.take());
  REQUIRE(other.send_frame(frame_of(kOne, kTwo, 101)) == 0);
  CHECK(other.poll().opcode == IBV_WC_SEND);
  CHECK(two.poll().byte_len == 101);
}

TEST_CASE("a queue pair with a flow is not destroyed before it; a flow that is gone is an error") {
  configure("a");
  FlowEnd end("a");
  ibv_flow* flow = end.take();
  REQUIRE(flow);
  CHECK(flow->context == end.context.get());
  CHECK(ibv_destroy_qp(end.qp) == EBUSY);
  const auto* verbs = verbs_get_ctx(end.context.get());
  const auto destroy = verbs->ibv_destroy_flow;
  const auto create = verbs->ibv_create_flow;
  REQUIRE(destroy(flow) == 0);
  CHECK(destroy(flow) == ENOENT);
  CHECK(destroy(reinterpret_cast<ibv_flow*>(end.pd)) == EINVAL);
  CHECK(create(end.qp, nullptr) == nullptr);
  CHECK(errno == EINVAL);
  ibv_qp* gone = end.qp;
  REQUIRE(ibv_destroy_qp(end.qp) == 0);
  end.qp = nullptr;
  ibv_flow_attr attr{};
  attr.port = 1;
  check_addresses<ibv_qp>(EINVAL, gone, end.pd, [&](ibv_qp* qp) { return create(qp, &attr); });
  check_addresses<ibv_flow>(ENOENT, flow, nullptr, destroy);
}

namespace {

// A raw queue pair whose domain and queue go with the context.
ibv_qp* create_raw(ibv_context* context) {
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = ibv_create_cq(context, 4, nullptr, nullptr, 0);
  init.qp_type = IBV_QPT_RAW_PACKET;
  init.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  return ibv_create_qp(ibv_alloc_pd(context), &init);
}

}  // namespace

TEST_CASE("what is left of a context goes with it, flows and all") {
  configure("a");
  for (int round = 0; round < 3; ++round) {
    const Context context = open_device("a");
    ibv_qp* qp = create_raw(context.get());
    REQUIRE(qp);
    ibv_flow_attr attr{};
    attr.port = 1;
    for (int i = 0; i < 3; ++i) REQUIRE(ibv_create_flow(qp, &attr));
  }
}

TEST_CASE("the device says that it steers flows; a device whose model has no raw packets refuses them") {
  ibv_device_attr attr{};
  ibv_flow_attr flow{};
  flow.port = 1;
  configure_frames();
  {
    End end("plain0", IBV_QPT_UD);
    REQUIRE(ibv_query_device(end.context.get(), &attr) == 0);
    CHECK((attr.device_cap_flags & IBV_DEVICE_MANAGED_FLOW_STEERING) == 0);
    CHECK(ibv_create_flow(end.qp, &flow) == nullptr);
    CHECK(errno == EOPNOTSUPP);
  }
  configure("a");
  const Context own = open_device("a");
  REQUIRE(ibv_query_device(own.get(), &attr) == 0);
  CHECK((attr.device_cap_flags & IBV_DEVICE_MANAGED_FLOW_STEERING) != 0);
  ibv_device_attr_ex extended{};
  REQUIRE(ibv_query_device_ex(own.get(), nullptr, &extended) == 0);
  CHECK(extended.raw_packet_caps == 0);
  End datagrams("a", IBV_QPT_UD);
  CHECK(ibv_create_flow(datagrams.qp, &flow) == nullptr);
  CHECK(errno == EINVAL);
}

TEST_CASE("a strict device asks for the capability of the kernel") {
  const auto create = [](const char* text) {
    configure(text);
    const Context context = open_device("a");
    return create_raw(context.get()) ? 0 : errno;
  };
  const auto without = [&](const char* text) {
    return in_child([&] {
      __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
      __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
      if (syscall(SYS_capset, &header, none) != 0) return 255;
      return create(text);
    });
  };
#ifndef __SANITIZE_THREAD__  // which ends a forked child that starts a thread
  CHECK(without("a") == 0);
  CHECK(without("a,strict=1") == EPERM);
#endif
  CHECK(create("a,strict=1") == (verbs::soft::model::has_net_raw() ? 0 : EPERM));
}

TEST_CASE("flows come and go while frames arrive") {
  configure("a;b");
  FlowEnd one("a"), other("b");
  std::atomic<bool> done{false};
  std::thread changer([&] {
    while (!done) {
      ibv_flow* flow = other.take();
      if (flow) CHECK(ibv_destroy_flow(flow) == 0);
    }
  });
  const Bytes frame = frame_of(kGroup, kOne, 64);
  for (int i = 0; i < 2000; ++i) {
    REQUIRE(one.send_frame(frame) == 0);
    CHECK(one.poll().status == IBV_WC_SUCCESS);
    if (i % 8 == 0) (void)other.post_recv(kReceiveAt, kRoom);
    ibv_wc wc;
    while (ibv_poll_cq(other.cq, 1, &wc) > 0) CHECK(wc.status == IBV_WC_SUCCESS);
  }
  done = true;
  changer.join();
}
