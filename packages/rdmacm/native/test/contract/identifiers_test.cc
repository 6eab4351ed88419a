// What the life of an identifier means for its events, its channel and its groups, as librdmacm and the kernel have it.
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <thread>

#include "test/contract/ends.h"

using namespace verbs::rdmacm::test;

namespace {

class Events {
 public:
  Events() { REQUIRE(channel_); }
  ~Events() { rdma_destroy_event_channel(channel_); }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  operator rdma_event_channel*() const { return channel_; }

 private:
  rdma_event_channel* channel_ = rdma_create_event_channel();
};

rdma_cm_event* take(rdma_event_channel* channel, int timeout = 2000) {
  pollfd ready{channel->fd, POLLIN, 0};
  rdma_cm_event* event = nullptr;
  if (poll(&ready, 1, timeout) == 1) REQUIRE(rdma_get_cm_event(channel, &event) == 0);
  return event;
}

void await_arrival(rdma_event_channel* channel) {
  pollfd ready{channel->fd, POLLIN, 0};
  REQUIRE(poll(&ready, 1, 2000) == 1);
}

void expect(rdma_event_channel* channel, rdma_cm_event_type type) {
  rdma_cm_event* event = take(channel);
  REQUIRE(event);
  CHECK(event->event == type);
  rdma_ack_cm_event(event);
}

void check_silence(rdma_event_channel* channel, int time = 300) { CHECK(take(channel, time) == nullptr); }

void make_qp(rdma_cm_id* id) {
  ibv_qp_init_attr attr{};
  attr.qp_type = id->qp_type;
  attr.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  REQUIRE(rdma_create_qp(id, nullptr, &attr) == 0);
}

rdma_cm_id* resolved(rdma_event_channel* channel, rdma_port_space ps) {
  rdma_cm_id* id = nullptr;
  REQUIRE(rdma_create_id(channel, &id, nullptr, ps) == 0);
  sockaddr_in to = service();
  REQUIRE(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&to), 1000) == 0);
  expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
  REQUIRE(rdma_resolve_route(id, 1000) == 0);
  expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
  make_qp(id);
  return id;
}

// The identifier that a listener gets for the client's request.
rdma_cm_id* request_of(rdma_cm_id* client, rdma_event_channel* of_listener) {
  REQUIRE(rdma_connect(client, nullptr) == 0);
  rdma_cm_event* event = take(of_listener);
  REQUIRE(event);
  rdma_cm_id* request = event->id;
  rdma_ack_cm_event(event);
  return request;
}

// A request of the same process that comes after them has come: messages keep their order.
void await_all_before(rdma_event_channel* of_client) {
  Events events;
  rdma_cm_id* listener = nullptr;
  REQUIRE(rdma_create_id(events, &listener, nullptr, RDMA_PS_UDP) == 0);
  sockaddr_in own = service();
  REQUIRE(rdma_bind_addr(listener, reinterpret_cast<sockaddr*>(&own)) == 0);
  REQUIRE(rdma_listen(listener, 1) == 0);
  rdma_cm_id* client = resolved(of_client, RDMA_PS_UDP);
  rdma_cm_id* request = request_of(client, events);
  end(client);
  CHECK(rdma_destroy_id(request) == 0);
  CHECK(rdma_destroy_id(listener) == 0);
}

struct Member {
  Events events;
  sockaddr_in group{};
  ibv_gid gid{};
  rdma_cm_id* id = nullptr;

  Member() {
    group.sin_family = AF_INET;
    inet_pton(AF_INET, "239.1.2.3", &group.sin_addr);
    const std::uint8_t mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 1, 2, 3};
    std::copy(std::begin(mapped), std::end(mapped), gid.raw);
    REQUIRE(rdma_create_id(events, &id, nullptr, RDMA_PS_UDP) == 0);
    sockaddr_in own = service();
    own.sin_port = 0;
    REQUIRE(rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&own)) == 0);
    make_qp(id);
  }
  ~Member() { end(id); }
  sockaddr* address() { return reinterpret_cast<sockaddr*>(&group); }
  bool is_attached() const { return ibv_detach_mcast(id->qp, &gid, 0) == 0; }
};

}  // namespace

TEST_CASE("a group that was left gives no event any more, and does not attach the queue pair") {
  Member member;
  REQUIRE(rdma_join_multicast(member.id, member.address(), nullptr) == 0);
  CHECK(rdma_leave_multicast(member.id, member.address()) == 0);
  check_silence(member.events, 50);
  CHECK_FALSE(member.is_attached());
  CHECK(rdma_leave_multicast(member.id, member.address()) == -1);
  CHECK(errno == EADDRNOTAVAIL);

  // With an event that the program still has, leaving waits for it.
  REQUIRE(rdma_join_multicast(member.id, member.address(), nullptr) == 0);
  rdma_cm_event* event = take(member.events);
  REQUIRE(event);
  CHECK(event->param.ud.ah_attr.grh.hop_limit == 64);
  bool left = false;
  std::thread leaving([&] {
    CHECK(rdma_leave_multicast(member.id, member.address()) == 0);
    left = true;
  });
  usleep(20'000);
  rdma_ack_cm_event(event);
  leaving.join();
  CHECK(left);
  CHECK_FALSE(member.is_attached());
}

TEST_CASE("who joins only to send gets no datagrams of the group") {
  Member member;
  rdma_cm_join_mc_attr_ex attr{};
  attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
  attr.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
  attr.addr = member.address();
  REQUIRE(rdma_join_multicast_ex(member.id, &attr, nullptr) == 0);
  expect(member.events, RDMA_CM_EVENT_MULTICAST_JOIN);
  CHECK_FALSE(member.is_attached());
  CHECK(rdma_leave_multicast(member.id, member.address()) == 0);
}

TEST_CASE("a request of a synchronous listener has a channel of its own, a path, and what the peer offers") {
  Events events;
  rdma_cm_id* listener = new_listener(nullptr);
  rdma_cm_id* client = resolved(events, RDMA_PS_TCP);
  rdma_conn_param param{};
  param.responder_resources = param.initiator_depth = 1;
  REQUIRE(rdma_connect(client, &param) == 0);
  rdma_cm_event* event = take(listener->channel);
  REQUIRE(event);
  rdma_cm_id* request = event->id;
  CHECK(request->channel != listener->channel);
  REQUIRE(request->route.num_paths == 1);
  CHECK(request->route.path_rec->mtu == client->route.path_rec->mtu);
  rdma_ack_cm_event(event);
  CHECK(rdma_destroy_id(listener) == 0);
  make_qp(request);
  param.responder_resources = RDMA_MAX_RESP_RES;
  param.initiator_depth = RDMA_MAX_INIT_DEPTH;
  std::thread seeing([&] { expect(events, RDMA_CM_EVENT_ESTABLISHED); });
  CHECK(rdma_accept(request, &param) == 0);  // it is synchronous: the connection stands
  seeing.join();
  for (rdma_cm_id* id : {client, request}) {
    ibv_qp_attr attr;
    ibv_qp_init_attr init;
    REQUIRE(ibv_query_qp(id->qp, &attr, IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC, &init) == 0);
    CHECK(attr.max_rd_atomic == 1);
    CHECK(attr.max_dest_rd_atomic == 1);
  }
  CHECK(rdma_migrate_id(request, nullptr) == -1);
  CHECK(errno == EINVAL);
  end(request);
  end(client);
}

TEST_CASE("requests that wait follow their listener to another channel") {
  Events before, after, events;
  rdma_cm_id* listener = new_listener(before);
  rdma_cm_id* client = resolved(events, RDMA_PS_TCP);
  REQUIRE(rdma_connect(client, nullptr) == 0);
  await_arrival(before);
  REQUIRE(rdma_migrate_id(listener, after) == 0);
  rdma_cm_event* event = take(after);
  REQUIRE(event);
  CHECK(event->id->channel == after);
  rdma_cm_id* request = event->id;
  rdma_ack_cm_event(event);
  CHECK(rdma_destroy_id(request) == 0);
  end(client);
  CHECK(rdma_destroy_id(listener) == 0);
}

TEST_CASE("a synchronous server of datagrams gives the event of a request back when it accepts") {
  rdma_addrinfo hints{}, *info = nullptr;
  hints.ai_flags = RAI_PASSIVE;
  hints.ai_port_space = RDMA_PS_UDP;
  REQUIRE(rdma_getaddrinfo("10.77.1.1", "7471", &hints, &info) == 0);
  ibv_qp_init_attr attr{};
  attr.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  rdma_cm_id *listener = nullptr, *request = nullptr;
  REQUIRE(rdma_create_ep(&listener, info, nullptr, &attr) == 0);
  rdma_freeaddrinfo(info);
  REQUIRE(rdma_listen(listener, 4) == 0);
  Events events;
  rdma_cm_id* client = resolved(events, RDMA_PS_UDP);
  REQUIRE(rdma_connect(client, nullptr) == 0);
  REQUIRE(rdma_get_request(listener, &request) == 0);
  rdma_conn_param param{};
  param.qp_num = request->qp->qp_num;
  CHECK(rdma_accept(request, &param) == 0);
  CHECK(request->event == nullptr);
  expect(events, RDMA_CM_EVENT_ESTABLISHED);
  end(client);

  client = resolved(events, RDMA_PS_UDP);
  REQUIRE(rdma_connect(client, nullptr) == 0);
  rdma_cm_id* refused = nullptr;
  REQUIRE(rdma_get_request(listener, &refused) == 0);
  CHECK(rdma_reject(refused, "busy", 5) == 0);
  rdma_cm_event* event = take(events);
  REQUIRE(event);
  CHECK(event->event == RDMA_CM_EVENT_UNREACHABLE);
  REQUIRE(event->param.ud.private_data);
  CHECK(std::string(static_cast<const char*>(event->param.ud.private_data)) == "busy");
  rdma_ack_cm_event(event);
  end(client);
  rdma_destroy_ep(refused);
  rdma_destroy_ep(listener);
  rdma_destroy_ep(request);
}

TEST_CASE("what happens to a request before it is accepted is told to nobody, and leaves no wait behind") {
  Events events, of_client;
  rdma_cm_id* listener = new_listener(events);
  rdma_cm_id* client = resolved(of_client, RDMA_PS_TCP);
  rdma_cm_id* request = request_of(client, events);
  end(client);
  check_silence(events, 800);
  // Nor is one that was withdrawn before the program has heard of it.
  client = resolved(of_client, RDMA_PS_TCP);
  REQUIRE(rdma_connect(client, nullptr) == 0);
  await_arrival(events);
  end(client);
  await_all_before(of_client);
  REQUIRE(fcntl(static_cast<rdma_event_channel*>(events)->fd, F_SETFL, O_NONBLOCK) == 0);
  rdma_cm_event* event = nullptr;
  CHECK(rdma_get_cm_event(events, &event) == -1);
  CHECK(errno == EAGAIN);
  rdma_conn_param param{};
  CHECK(rdma_accept(request, &param) == -1);
  CHECK(rdma_destroy_id(request) == 0);
  CHECK(rdma_destroy_id(listener) == 0);
}

TEST_CASE("an identifier that is destroyed while another thread connects it is no more") {
  Events events;
  rdma_cm_id* id = new_id(events);
  sockaddr_in to = service();
  REQUIRE(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&to), 1000) == 0);
  expect(events, RDMA_CM_EVENT_ADDR_RESOLVED);
  REQUIRE(rdma_resolve_route(id, 1000) == 0);
  rdma_cm_event* event = take(events);
  REQUIRE(event);
  std::thread destroying([&] { CHECK(rdma_destroy_id(id) == 0); });
  rdma_conn_param param{};
  param.qp_num = 5;
  for (int i = 0; i < 200; ++i) {
    rdma_connect(id, &param);
    usleep(100);
  }
  rdma_ack_cm_event(event);
  destroying.join();
  check_silence(events, 500);
}

TEST_CASE("a child of a fork destroys identifiers, also where a thread of the parent waits in doing so") {
  Events events;
  rdma_cm_id* id = new_id(events);
  sockaddr_in to = service();
  REQUIRE(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&to), 1000) == 0);
  rdma_cm_event* event = take(events);
  REQUIRE(event);
  std::thread destroying([&] { CHECK(rdma_destroy_id(id) == 0); });
  usleep(20'000);
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    for (int i = 0; i < 4; ++i) {
      rdma_event_channel* channel = rdma_create_event_channel();
      rdma_cm_id* own = nullptr;
      rdma_cm_event* resolved = nullptr;
      if (!channel || rdma_create_id(channel, &own, nullptr, RDMA_PS_TCP) != 0) _exit(1);
      if (rdma_resolve_addr(own, nullptr, reinterpret_cast<sockaddr*>(&to), 1000) != 0) _exit(2);
      if (rdma_get_cm_event(channel, &resolved) != 0) _exit(3);
      std::thread waiting([&] { rdma_destroy_id(own); });
      usleep(20'000);
      rdma_ack_cm_event(resolved);
      waiting.join();
      rdma_destroy_event_channel(channel);
    }
    _exit(0);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  rdma_ack_cm_event(event);
  destroying.join();
}
