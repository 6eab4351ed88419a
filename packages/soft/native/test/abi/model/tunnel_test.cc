// What a model may do since version 2 of the extension: tunnels of queue pairs, control verbs of its own, contexts that
// are opened again, events.
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/verbs_soft_extension.h"
#include "test/abi/support/device_pair.h"
#include "test/abi/support/frame_model.h"

using namespace verbs::soft::test;

namespace {

ibv_context* shared_context = nullptr;
int shared_count = 0;
bool share = false;
int rejected = 0;

ibv_mr* refuse_reg_mr(ibv_pd*, void*, size_t, uint64_t, unsigned) {
  ++rejected;
  errno = EOPNOTSUPP;
  return nullptr;
}

void register_model() {
  static const verbs_soft_model model{
      .kind = "tunnelled",
      .default_device = "t0",
      .defaults = nullptr,
      .option_names = nullptr,
      .data = nullptr,
      .init_device = nullptr,
      .open_context = nullptr,
      .close_context = nullptr,
      .egress = nullptr,
      .ingress = nullptr,
      .reopen_context = [](void*, ibv_device*) -> ibv_context* {
        if (!share || !shared_context) return nullptr;
        ++shared_count;
        return shared_context;
      },
      .keep_context = [](void*,
                         ibv_context* context) { return context == shared_context && shared_count-- > 0 ? 1 : 0; },
      .tunnels = 1,
      .raw_send = nullptr,
      .raw_receive = nullptr,
      .raw_packet_caps = 0};
  static const int registered = soft()->register_model(&model);
  REQUIRE(registered == 0);
}

verbs_soft_tunnel_attr tunnel_attr(verbs_soft_tunnel_type type) {
  verbs_soft_tunnel_attr attr{};
  attr.port_num = 1;
  attr.type = static_cast<std::uint8_t>(type);
  attr.ip_protocol = 47;
  attr.udp_port = 4789;
  attr.header_size = 8;
  std::memset(attr.header, 0xab, 8);
  return attr;
}

void use_tunnel(End& end, verbs_soft_tunnel** tunnel, const verbs_soft_tunnel_attr& attr) {
  REQUIRE_MESSAGE(soft()->open_tunnel(end.context.get(), &attr, tunnel) == 0, std::string(verbs_soft_last_error()));
  REQUIRE(soft()->set_qp_tunnel(end.qp, VERBS_SOFT_TUNNEL_REQUESTS, *tunnel) == 0);
  REQUIRE(soft()->set_qp_tunnel(end.qp, VERBS_SOFT_TUNNEL_RESPONSES, *tunnel) == 0);
}

bool has_raw_sockets() {
  const int fd = socket(AF_INET, SOCK_RAW, 47);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

void write_through(const char* configuration, verbs_soft_tunnel_type type) {
  register_model();
  configure(configuration);
  End a("ta"), b("tb");
  verbs_soft_tunnel *from = nullptr, *to = nullptr;
  use_tunnel(a, &from, tunnel_attr(type));
  use_tunnel(b, &to, tunnel_attr(type));
  a.connect(b);
  b.connect(a);
  for (std::size_t i = 0; i < 9000; ++i) a.memory[i] = static_cast<std::uint8_t>(i * 7);
  REQUIRE(a.rdma(IBV_WR_RDMA_WRITE, b, 9000) == 0);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  CHECK(std::equal(a.memory.begin(), a.memory.begin() + 9000, b.memory.begin()));
  REQUIRE(b.post_recv(0, 64) == 0);
  REQUIRE(a.send(0, 64) == 0);
  CHECK(b.poll().status == IBV_WC_SUCCESS);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  soft()->close_tunnel(a.context.get(), from);
  soft()->close_tunnel(b.context.get(), to);
}

}  // namespace

TEST_CASE("tunnels within the process") {
  for (const auto type : {VERBS_SOFT_TUNNEL_PLAIN, VERBS_SOFT_TUNNEL_UDP, VERBS_SOFT_TUNNEL_IPV4}) {
    write_through("ta,kind=tunnelled,link=process;tb,kind=tunnelled,link=process", type);
  }
}

TEST_CASE("tunnels over sockets") {
  write_through("ta,kind=tunnelled,link=udp;tb,kind=tunnelled,link=udp", VERBS_SOFT_TUNNEL_UDP);
  if (has_raw_sockets()) {
    write_through("ta,kind=tunnelled,link=udp;tb,kind=tunnelled,link=udp", VERBS_SOFT_TUNNEL_IPV4);
  }
}

TEST_CASE("a tunnel that cannot be listened for says why") {
  register_model();
  configure("ta,kind=tunnelled,link=udp;tb,kind=tunnelled,link=udp;tc,kind=tunnelled,link=process");
  const Context a = open_device("ta"), c = open_device("tc");
  verbs_soft_tunnel* tunnel = nullptr;
  verbs_soft_tunnel_attr attr = tunnel_attr(VERBS_SOFT_TUNNEL_UDP);
  const std::uint8_t elsewhere[4] = {192, 0, 2, 1};
  std::memcpy(attr.source, elsewhere, 4);
  CHECK(soft()->open_tunnel(a.get(), &attr, &tunnel) == EADDRNOTAVAIL);
  CHECK(std::string(verbs_soft_last_error()).find("192.0.2.1") != std::string::npos);
  CHECK(soft()->open_tunnel(c.get(), &attr, &tunnel) == 0);
  soft()->close_tunnel(c.get(), tunnel);
  attr = tunnel_attr(VERBS_SOFT_TUNNEL_UDP);
  attr.port_num = 2;
  CHECK(soft()->open_tunnel(a.get(), &attr, &tunnel) == EINVAL);
  attr.port_num = 1;
  attr.header_size = VERBS_SOFT_TUNNEL_HEADER_MAX + 1;
  CHECK(soft()->open_tunnel(a.get(), &attr, &tunnel) == EINVAL);
  if (!has_raw_sockets()) {
    attr = tunnel_attr(VERBS_SOFT_TUNNEL_IPV4);
    CHECK(soft()->open_tunnel(a.get(), &attr, &tunnel) == EPERM);
    CHECK(std::string(verbs_soft_last_error()).find("CAP_NET_RAW") != std::string::npos);
  }
}

TEST_CASE("a forked child keeps no socket of a tunnel") {
  register_model();
  configure("ta,kind=tunnelled,link=udp");
  const Context context = open_device("ta");
  const verbs_soft_tunnel_attr attr = tunnel_attr(VERBS_SOFT_TUNNEL_UDP);
  verbs_soft_tunnel* tunnel = nullptr;
  REQUIRE(soft()->open_tunnel(context.get(), &attr, &tunnel) == 0);
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  char byte = 0;
  if (child == 0) {
    close(ends[0]);
    (void)!write(ends[1], &byte, 1);
    (void)!read(ends[1], &byte, 1);  // until the parent has looked
    _exit(0);
  }
  close(ends[1]);
  REQUIRE(read(ends[0], &byte, 1) == 1);
  soft()->close_tunnel(context.get(), tunnel);
  // Its port is free again.
  CHECK(soft()->open_tunnel(context.get(), &attr, &tunnel) == 0);
  close(ends[0]);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("a device that may have tunnels knows where no route leads") {
  register_model();
  configure("ta,kind=tunnelled,link=udp");
  End a("ta");
  CHECK(a.route_to_nowhere() == ENETUNREACH);
}

TEST_CASE("packets of a queue pair whose tunnel is closed are dropped") {
  register_model();
  configure("ta,kind=tunnelled;tb,kind=tunnelled");
  End a("ta"), b("tb");
  verbs_soft_tunnel *from = nullptr, *to = nullptr;
  use_tunnel(a, &from, tunnel_attr(VERBS_SOFT_TUNNEL_UDP));
  use_tunnel(b, &to, tunnel_attr(VERBS_SOFT_TUNNEL_UDP));
  a.connect(b, 1);
  b.connect(a, 1);
  soft()->close_tunnel(a.context.get(), from);
  REQUIRE(a.rdma(IBV_WR_RDMA_WRITE, b, 8) == 0);
  CHECK(a.poll().status == IBV_WC_RETRY_EXC_ERR);
  soft()->close_tunnel(b.context.get(), to);
}

TEST_CASE("a model answers control verbs in the NIC's place, and can still call the NIC's") {
  register_model();
  configure("ta,kind=tunnelled");
  const Context context = open_device("ta");
  verbs_soft_verbs* verbs = soft()->verbs(context.get());
  const auto own = verbs->reg_mr;
  verbs->reg_mr = refuse_reg_mr;
  ibv_pd* pd = ibv_alloc_pd(context.get());
  char memory[64];
  rejected = 0;
  CHECK(ibv_reg_mr(pd, memory, sizeof memory, 0) == nullptr);
  CHECK(errno == EOPNOTSUPP);
  CHECK(ibv_reg_mr_iova(pd, memory, sizeof memory, 0, 0) == nullptr);
  CHECK(rejected == 2);
  CHECK(own(pd, memory, sizeof memory, reinterpret_cast<std::uintptr_t>(memory), 0) != nullptr);
}

TEST_CASE("a model gives an open context again, and keeps it until its last close") {
  register_model();
  configure("ta,kind=tunnelled");
  ibv_context* context = open_device("ta").release();
  shared_context = context;
  share = true;
  CHECK(open_device("ta").get() == context);  // closed again at once
  CHECK(shared_count == 0);
  ibv_device_attr attr;
  CHECK(ibv_query_device(context, &attr) == 0);
  share = false;
  shared_context = nullptr;
  CHECK(ibv_close_device(context) == 0);
}

TEST_CASE("a model raises asynchronous events") {
  register_model();
  configure("ta,kind=tunnelled");
  End end("ta");
  ibv_async_event event{};
  event.event_type = IBV_EVENT_QP_FATAL;
  event.element.qp = end.qp;
  soft()->raise_event(end.context.get(), &event);
  ibv_async_event reported{};
  REQUIRE(ibv_get_async_event(end.context.get(), &reported) == 0);
  CHECK(reported.event_type == IBV_EVENT_QP_FATAL);
  CHECK(reported.element.qp == end.qp);
  ibv_ack_async_event(&reported);
}
