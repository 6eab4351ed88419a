// Without memory every call of librdmacm fails with ENOMEM and leaves things as they were: the nth allocation of each
// call fails in turn, and the next call on the same objects goes on.
#include <arpa/inet.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include "../../../../soft/native/test/abi/support/failing_call.h"
#include "model/event/event.h"
#include "model/library/functions.h"

using namespace verbs::soft::test;
using verbs::rdmacm::model::kAddrinfoResolved;
using verbs::rdmacm::model::kUserEvent;

namespace {

constexpr const char* kAddress = "10.77.1.1";
constexpr std::uint16_t kPort = 7471;

sockaddr_storage address(const char* text, std::uint16_t port) {
  sockaddr_storage made{};
  auto* in = reinterpret_cast<sockaddr_in*>(&made);
  in->sin_family = AF_INET;
  in->sin_port = htons(port);
  inet_pton(AF_INET, text, &in->sin_addr);
  return made;
}
sockaddr* as_sockaddr(sockaddr_storage& storage) { return reinterpret_cast<sockaddr*>(&storage); }

rdma_cm_id* new_id(rdma_event_channel* channel, rdma_port_space ps = RDMA_PS_TCP) {
  rdma_cm_id* id = nullptr;
  until_it_succeeds("rdma_create_id", [&] { return rdma_create_id(channel, &id, nullptr, ps); });
  return id;
}

// The next event of the channel, which has to be of this type; acknowledged. Its identifier.
rdma_cm_id* expect(rdma_event_channel* channel, rdma_cm_event_type type) {
  rdma_cm_event* event = nullptr;
  until_it_succeeds("rdma_get_cm_event", [&] { return rdma_get_cm_event(channel, &event); });
  CAPTURE(event->status);
  CHECK(event->event == type);
  rdma_cm_id* const id = event->id;
  until_it_succeeds("rdma_ack_cm_event", [&] { return rdma_ack_cm_event(event); });
  return id;
}

void destroy(rdma_cm_id* id) {
  until_it_succeeds("rdma_destroy_id", [&] { return rdma_destroy_id(id); });
}

ibv_qp_init_attr qp_attr(const rdma_cm_id* id) {
  ibv_qp_init_attr attr{};
  attr.qp_type = id->qp_type;
  attr.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  return attr;
}

void create_qp(rdma_cm_id* id) {
  until_it_succeeds("rdma_create_qp", [&] {
    ibv_qp_init_attr attr = qp_attr(id);
    return rdma_create_qp(id, nullptr, &attr);
  });
}

rdma_conn_param parameters() {
  static const char data[] = "some private data";
  rdma_conn_param made{};
  made.private_data = data;
  made.private_data_len = sizeof data;
  made.responder_resources = made.initiator_depth = 1;
  made.retry_count = made.rnr_retry_count = 7;
  return made;
}

rdma_cm_id* resolved(rdma_event_channel* channel, rdma_port_space ps = RDMA_PS_TCP, const char* to = kAddress) {
  rdma_cm_id* const id = new_id(channel, ps);
  sockaddr_storage destination = address(to, kPort);
  until_it_succeeds("rdma_resolve_addr",
                    [&] { return rdma_resolve_addr(id, nullptr, as_sockaddr(destination), 2000); });
  CHECK(expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED) == id);
  until_it_succeeds("rdma_resolve_route", [&] { return rdma_resolve_route(id, 2000); });
  CHECK(expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED) == id);
  return id;
}

// A service, and channels for both sides.
struct Place {
  rdma_event_channel* active =
      until_it_succeeds("rdma_create_event_channel", [] { return rdma_create_event_channel(); });
  rdma_event_channel* passive = rdma_create_event_channel();
  rdma_cm_id* listener;

  explicit Place(rdma_port_space ps = RDMA_PS_TCP) : listener(new_id(passive, ps)) {
    sockaddr_storage own = address(kAddress, kPort);
    until_it_succeeds("rdma_bind_addr", [&] { return rdma_bind_addr(listener, as_sockaddr(own)); });
    until_it_succeeds("rdma_listen", [&] { return rdma_listen(listener, 8); });
  }
  Place(const Place&) = delete;
  ~Place() {
    destroy(listener);
    for (rdma_event_channel* channel : {active, passive}) {
      until_it_has_memory("rdma_destroy_event_channel", [&] {
        if (channel) rdma_destroy_event_channel(channel);
        channel = nullptr;
      });
    }
  }

  // A request that waits for accept or reject, and who made it.
  std::pair<rdma_cm_id*, rdma_cm_id*> request() {
    rdma_cm_id* const client = resolved(active);
    create_qp(client);
    rdma_conn_param param = parameters();
    until_it_succeeds("rdma_connect", [&] { return rdma_connect(client, &param); });
    return {client, expect(passive, RDMA_CM_EVENT_CONNECT_REQUEST)};
  }
};

void end(rdma_cm_id* id) {
  until_it_has_memory("rdma_destroy_qp", [&] { rdma_destroy_qp(id); });
  destroy(id);
}

}  // namespace

TEST_CASE("the devices, names and numbers" * doctest::skip(!kAllocationsCanFail)) {
  int count = 0;
  ibv_context** list = until_it_succeeds("rdma_get_devices", [&] { return rdma_get_devices(&count); });
  CHECK(count == 1);
  until_it_has_memory("rdma_free_devices", [&] {
    rdma_free_devices(list);
    list = nullptr;
  });
  until_it_has_memory("rdma_event_str", [] { rdma_event_str(RDMA_CM_EVENT_ESTABLISHED); });
}

TEST_CASE("a connection" * doctest::skip(!kAllocationsCanFail)) {
  Place place;
  until_it_has_memory("rdma_get_src_port", [&] { rdma_get_src_port(place.listener); });
  until_it_has_memory("rdma_get_dst_port", [&] { rdma_get_dst_port(place.listener); });
  const auto [client, server] = place.request();
  create_qp(server);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  int mask = 0;
  until_it_succeeds("rdma_init_qp_attr", [&, id = server] { return rdma_init_qp_attr(id, &attr, &mask); });
  rdma_conn_param param = parameters();
  until_it_succeeds("rdma_accept", [&, id = server] { return rdma_accept(id, &param); });
  CHECK(expect(place.active, RDMA_CM_EVENT_ESTABLISHED) == client);
  CHECK(expect(place.passive, RDMA_CM_EVENT_ESTABLISHED) == server);
  until_it_has_memory("rdma_notify", [id = server] { rdma_notify(id, IBV_EVENT_COMM_EST); });
  until_it_succeeds("rdma_disconnect", [id = client] { return rdma_disconnect(id); });
  expect(place.active, RDMA_CM_EVENT_DISCONNECTED);
  expect(place.passive, RDMA_CM_EVENT_DISCONNECTED);
  end(client);
  end(server);
}

TEST_CASE("an identifier that is destroyed in each state" * doctest::skip(!kAllocationsCanFail)) {
  for (int nth = 1; nth < 12; ++nth) {
    CAPTURE(nth);
    Place place;
    const auto [client, server] = place.request();
    create_qp(server);
    if (nth % 2 == 0) {
      rdma_conn_param param = parameters();
      CHECK(rdma_accept(server, &param) == 0);
      CHECK(expect(place.active, RDMA_CM_EVENT_ESTABLISHED) == client);
      CHECK(expect(place.passive, RDMA_CM_EVENT_ESTABLISHED) == server);
    }
    for (rdma_cm_id* id : {client, server}) {
      rdma_destroy_qp(id);
      // It may not tell the peer, but the identifier is gone.
      fail_allocation(nth / 2);
      CHECK(rdma_destroy_id(id) == 0);
      fail_allocation(0);
    }
  }
}

TEST_CASE("a request that is rejected" * doctest::skip(!kAllocationsCanFail)) {
  Place place;
  for (const bool ece : {false, true}) {
    const auto [client, server] = place.request();
    until_it_succeeds(ece ? "rdma_reject_ece" : "rdma_reject",
                      [&, id = server] { return ece ? rdma_reject_ece(id, "no", 2) : rdma_reject(id, "no", 2); });
    CHECK(expect(place.active, RDMA_CM_EVENT_REJECTED) == client);
    destroy(server);
    end(client);
  }
}

TEST_CASE("a connection whose program has its own queue pairs" * doctest::skip(!kAllocationsCanFail)) {
  Place place;
  rdma_cm_id* const client = resolved(place.active);
  ibv_ece ece{.vendor_id = 1, .options = 1, .comp_mask = 0};
  until_it_succeeds("rdma_set_local_ece", [&] { return rdma_set_local_ece(client, &ece); });
  std::uint8_t tos = 8;
  until_it_succeeds("rdma_set_option",
                    [&] { return rdma_set_option(client, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof tos); });
  rdma_conn_param param = parameters();
  param.qp_num = 0x123;
  until_it_succeeds("rdma_connect", [&] { return rdma_connect(client, &param); });
  rdma_cm_id* const server = expect(place.passive, RDMA_CM_EVENT_CONNECT_REQUEST);
  until_it_succeeds("rdma_get_remote_ece", [&] { return rdma_get_remote_ece(server, &ece); });
  until_it_succeeds("rdma_accept", [&] { return rdma_accept(server, &param); });
  CHECK(expect(place.active, RDMA_CM_EVENT_CONNECT_RESPONSE) == client);
  until_it_succeeds("rdma_establish", [&] { return rdma_establish(client); });
  CHECK(expect(place.passive, RDMA_CM_EVENT_ESTABLISHED) == server);
  rdma_event_channel* const other = rdma_create_event_channel();
  until_it_succeeds("rdma_migrate_id", [&] { return rdma_migrate_id(server, other); });
  destroy(server);
  destroy(client);
  rdma_destroy_event_channel(other);
}

TEST_CASE("queue pairs and shared receive queues" * doctest::skip(!kAllocationsCanFail)) {
  Place place;
  rdma_cm_id* const id = resolved(place.active);
  std::uint32_t handle = 0;
  for (int i = 0; i < 3; ++i) {
    create_qp(id);
    // The number that a queue pair has when none was left behind.
    if (i == 0) handle = id->qp->handle;
    CHECK(id->qp->handle == handle);
    until_it_has_memory("rdma_destroy_qp", [&] { rdma_destroy_qp(id); });
    until_it_succeeds("rdma_create_qp_ex", [&] {
      ibv_qp_init_attr_ex attr{};
      attr.qp_type = id->qp_type;
      attr.cap = qp_attr(id).cap;
      return rdma_create_qp_ex(id, &attr);
    });
    CHECK(id->qp->handle == handle);
    rdma_destroy_qp(id);
  }
  ibv_srq_init_attr attr{.srq_context = nullptr, .attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0}};
  until_it_succeeds("rdma_create_srq", [&] { return rdma_create_srq(id, nullptr, &attr); });
  until_it_has_memory("rdma_destroy_srq", [&] { rdma_destroy_srq(id); });
  until_it_succeeds("rdma_create_srq_ex", [&] {
    ibv_srq_init_attr_ex ex{};
    ex.attr = attr.attr;
    ex.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
    return rdma_create_srq_ex(id, &ex);
  });
  rdma_destroy_srq(id);
  destroy(id);
}

TEST_CASE("an XRC SRQ keeps its completion queue, and without memory leaves none behind" *
          doctest::skip(!kAllocationsCanFail)) {
  sockaddr_storage own = address(kAddress, 0);
  rdma_addrinfo info{};
  info.ai_flags = RAI_PASSIVE;
  info.ai_family = AF_INET;
  info.ai_qp_type = IBV_QPT_XRC_RECV;
  info.ai_port_space = RDMA_PS_IB;
  info.ai_src_len = sizeof(sockaddr_in);
  info.ai_src_addr = as_sockaddr(own);
  rdma_cm_id* id = nullptr;
  REQUIRE(rdma_create_ep(&id, &info, nullptr, nullptr) == 0);
  ibv_srq_init_attr attr{.srq_context = nullptr, .attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0}};
  bool left = false;  // a check would need memory
  until_it_succeeds("rdma_create_srq", [&] {
    const int result = rdma_create_srq(id, nullptr, &attr);
    left |= result != 0 && id->recv_cq;
    return result;
  });
  CHECK_FALSE(left);
  create_qp(id);
  rdma_destroy_qp(id);
  CHECK(id->recv_cq);
  rdma_destroy_srq(id);
  CHECK_FALSE(id->recv_cq);
  rdma_destroy_ep(id);
}

TEST_CASE("multicast groups" * doctest::skip(!kAllocationsCanFail)) {
  rdma_event_channel* const channel = rdma_create_event_channel();
  rdma_cm_id* id = nullptr;
  REQUIRE(rdma_create_id(channel, &id, nullptr, RDMA_PS_UDP) == 0);
  sockaddr_storage own = address(kAddress, 0);
  REQUIRE(rdma_bind_addr(id, as_sockaddr(own)) == 0);
  create_qp(id);
  sockaddr_storage group = address("239.7.7.7", 0);
  until_it_succeeds("rdma_join_multicast", [&] { return rdma_join_multicast(id, as_sockaddr(group), nullptr); });
  CHECK(expect(channel, RDMA_CM_EVENT_MULTICAST_JOIN) == id);
  until_it_succeeds("rdma_leave_multicast", [&] { return rdma_leave_multicast(id, as_sockaddr(group)); });
  rdma_cm_join_mc_attr_ex attr{};
  attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
  attr.join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER;
  attr.addr = as_sockaddr(group);
  until_it_succeeds("rdma_join_multicast_ex", [&] { return rdma_join_multicast_ex(id, &attr, nullptr); });
  CHECK(expect(channel, RDMA_CM_EVENT_MULTICAST_JOIN) == id);
  end(id);
  rdma_destroy_event_channel(channel);
}

TEST_CASE("events that need no device: addresses by name, and the program's own" *
          doctest::skip(!kAllocationsCanFail)) {
  rdma_event_channel* const channel = rdma_create_event_channel();
  rdma_cm_id* const id = new_id(channel);
  rdma_addrinfo hints{}, *info = nullptr;
  hints.ai_port_space = RDMA_PS_TCP;
  until_it_succeeds("rdma_resolve_addrinfo", [&] { return rdma_resolve_addrinfo(id, kAddress, "7472", &hints); });
  CHECK(expect(channel, kAddrinfoResolved) == id);  // a failed call left no event before it
  until_it_succeeds("rdma_query_addrinfo", [&] { return rdma_query_addrinfo(id, &info); });
  CHECK(info->ai_dst_len == sizeof(sockaddr_in));
  rdma_freeaddrinfo(info);
  until_it_succeeds("rdma_write_cm_event", [&] { return rdma_write_cm_event(id, kUserEvent, 0, 7); });
  CHECK(expect(channel, kUserEvent) == id);
  destroy(id);
  rdma_destroy_event_channel(channel);
}

TEST_CASE("endpoints: a request waits until there is memory for it" * doctest::skip(!kAllocationsCanFail)) {
  rdma_addrinfo hints{}, *own = nullptr, *to = nullptr;
  hints.ai_port_space = RDMA_PS_TCP;
  hints.ai_flags = RAI_PASSIVE;
  until_it_succeeds("rdma_getaddrinfo", [&] { return rdma_getaddrinfo(kAddress, "7472", &hints, &own); });
  hints.ai_flags = 0;
  until_it_succeeds("rdma_getaddrinfo", [&] { return rdma_getaddrinfo(kAddress, "7472", &hints, &to); });
  rdma_cm_id* listener = nullptr;
  ibv_qp_init_attr attr{};
  attr.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  until_it_succeeds("rdma_create_ep", [&] { return rdma_create_ep(&listener, own, nullptr, &attr); });
  until_it_succeeds("rdma_listen", [&] { return rdma_listen(listener, 8); });

  std::thread client([&] {
    rdma_cm_id* id = nullptr;
    ibv_qp_init_attr own_attr = attr;
    REQUIRE(rdma_create_ep(&id, to, nullptr, &own_attr) == 0);
    rdma_conn_param param = parameters();
    CHECK(rdma_connect(id, &param) == 0);
    rdma_disconnect(id);
    rdma_destroy_ep(id);
  });
  usleep(50'000);  // its request is there
  rdma_cm_id* server = nullptr;
  until_it_succeeds("rdma_get_request", [&] { return rdma_get_request(listener, &server); });
  rdma_conn_param param = parameters();
  CHECK(rdma_accept(server, &param) == 0);
  client.join();
  until_it_has_memory("rdma_destroy_ep", [&] {
    if (server) rdma_destroy_ep(server);
    server = nullptr;
  });
  rdma_destroy_ep(listener);
  // An active one, of which each step waits for its event.
  rdma_cm_id* active = nullptr;
  until_it_succeeds("rdma_create_ep", [&] {
    ibv_qp_init_attr own_attr = attr;
    return rdma_create_ep(&active, to, nullptr, &own_attr);
  });
  rdma_destroy_ep(active);
  for (rdma_addrinfo* found : {own, to}) {
    until_it_has_memory("rdma_freeaddrinfo", [&] {
      if (found) rdma_freeaddrinfo(found);
      found = nullptr;
    });
  }
}

TEST_CASE("no exported function is missing here" * doctest::skip(!kAllocationsCanFail)) {
  std::map<std::string, std::string> others = {{"rfcntl", "as the other rsockets"}};
#define WITHOUT_RSOCKETS(result, name, parameters, arguments) others[#name] = "always EOPNOTSUPP";
  RSOCKET_FUNCTIONS(WITHOUT_RSOCKETS)
#undef WITHOUT_RSOCKETS
  check_no_call_is_missing("librdmacm.so.1", others);
}
