// What docs/contracts.md says of cancellation and of forks: functions that wait are cancellation points while they
// wait, and leave the library as it was, others are none; in the child of a fork the objects of the parent are refused.
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "../../../../soft/native/test/abi/support/victim.h"
#include "test/contract/ends.h"

using namespace verbs::rdmacm::test;
using verbs::soft::test::Victim;

TEST_CASE("a thread that waits for an event is cancelled, and another one gets the next event") {
  rdma_event_channel* channel = rdma_create_event_channel();
  REQUIRE(channel);
  rdma_cm_id* listener = new_listener(channel);
  for (int i = 0; i < 3; ++i) {
    rdma_cm_event* event = nullptr;
    Victim victim([&] { rdma_get_cm_event(channel, &event); });
    usleep(20'000);
    CHECK(victim.cancel());
    CHECK_FALSE(victim.returned());
    rdma_cm_id* caller = new_caller();
    std::thread calling([&] { CHECK(rdma_connect(caller, nullptr) != 0); });
    REQUIRE(rdma_get_cm_event(channel, &event) == 0);
    CHECK(event->event == RDMA_CM_EVENT_CONNECT_REQUEST);
    rdma_cm_id* request = event->id;
    CHECK(rdma_ack_cm_event(event) == 0);
    CHECK(rdma_reject(request, nullptr, 0) == 0);
    CHECK(rdma_destroy_id(request) == 0);
    calling.join();
    end(caller);
  }
  CHECK(rdma_destroy_id(listener) == 0);
  rdma_destroy_event_channel(channel);
}

TEST_CASE("so is one that waits for a request, and one whose request nobody answers") {
  rdma_cm_id* listener = new_listener(nullptr);
  rdma_cm_id* request = nullptr;
  Victim server([&] { rdma_get_request(listener, &request); });
  usleep(20'000);
  CHECK(server.cancel());
  rdma_cm_id* caller = new_caller();
  Victim client([&] { rdma_connect(caller, nullptr); });
  REQUIRE(rdma_get_request(listener, &request) == 0);
  usleep(20'000);
  CHECK(client.cancel());
  CHECK_FALSE(client.returned());
  end(caller);
  end(request);
  CHECK(rdma_destroy_id(listener) == 0);
}

TEST_CASE("so is one that destroys an identifier, and waits for an acknowledgement; the identifier is gone") {
  rdma_event_channel* channel = rdma_create_event_channel();
  REQUIRE(channel);
  rdma_cm_id* id = new_id(channel);
  sockaddr_in to = service();
  REQUIRE(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&to), 1000) == 0);
  rdma_cm_event* event = nullptr;
  REQUIRE(rdma_get_cm_event(channel, &event) == 0);
  Victim victim([&] { rdma_destroy_id(id); });
  usleep(20'000);
  CHECK_FALSE(victim.returned());
  CHECK(victim.cancel());
  CHECK(rdma_ack_cm_event(event) == 0);
  CHECK(rdma_destroy_id(id) == -1);
  rdma_destroy_event_channel(channel);
}

TEST_CASE("a cancellation waits for the end of each call of another kind") {
  Victim victim([] {
    pthread_cancel(pthread_self());
    int count = 0;
    rdma_free_devices(rdma_get_devices(&count));
    CHECK(count == 1);
    rdma_event_channel* channel = rdma_create_event_channel();
    rdma_cm_id* listener = new_listener(channel);
    rdma_cm_id* caller = new_id(channel);
    sockaddr_in to = service();
    REQUIRE(rdma_resolve_addr(caller, nullptr, reinterpret_cast<sockaddr*>(&to), 1000) == 0);
    rdma_addrinfo hints{}, *info = nullptr;
    hints.ai_port_space = RDMA_PS_TCP;
    REQUIRE(rdma_getaddrinfo("10.77.1.1", "7471", &hints, &info) == 0);
    rdma_freeaddrinfo(info);
    CHECK(rdma_destroy_id(caller) == 0);
    CHECK(rdma_destroy_id(listener) == 0);
    rdma_destroy_event_channel(channel);
  });
  CHECK(victim.join());
  CHECK(victim.returned());
}

TEST_CASE("in the child of a fork identifiers are the parent's, and channels are as new") {
  rdma_event_channel* channel = rdma_create_event_channel();
  rdma_cm_id* listener = new_listener(channel);
  rdma_cm_id* caller = new_caller();
  sockaddr_in to = service();
  rdma_cm_id* waiting = new_id(channel);
  REQUIRE(rdma_resolve_addr(waiting, nullptr, reinterpret_cast<sockaddr*>(&to), 1000) == 0);
  pollfd readable{channel->fd, POLLIN, 0};
  REQUIRE(poll(&readable, 1, 5000) == 1);
  REQUIRE(fcntl(channel->fd, F_SETFL, O_NONBLOCK) == 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    rdma_conn_param param{};
    const auto refused = [](int result) { return result != 0 && errno == EIO; };
    int failed = 0;
    const auto check = [&failed](int number, bool right) { failed = failed != 0 || right ? failed : number; };
    check(1, refused(rdma_resolve_addr(caller, nullptr, reinterpret_cast<sockaddr*>(&to), 1000)));
    check(2, refused(rdma_connect(caller, &param)));
    check(3, refused(rdma_disconnect(caller)));
    check(4, refused(rdma_listen(listener, 4)));
    check(5, refused(rdma_destroy_id(listener)));
    // The channel is as new: the parent's event is not here, and the descriptor is no longer the parent's.
    rdma_cm_event* event = nullptr;
    check(6, rdma_get_cm_event(channel, &event) != 0 && errno == EAGAIN);
    rdma_cm_id* id = nullptr;
    check(7, rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP) == 0);
    check(8, rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&to), 1000) == 0);
    check(9, rdma_get_cm_event(channel, &event) == 0 && event->event == RDMA_CM_EVENT_ADDR_RESOLVED && event->id == id);
    check(10, rdma_ack_cm_event(event) == 0 && rdma_destroy_id(id) == 0);
    // A daemon forks twice: the child of the child has none of either.
    rdma_cm_id* own = nullptr;
    check(11, rdma_create_id(channel, &own, nullptr, RDMA_PS_TCP) == 0);
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(refused(rdma_listen(listener, 4)) && refused(rdma_destroy_id(own)) ? 0 : 1);
    int ended = -1;
    check(12, waitpid(grandchild, &ended, 0) == grandchild && ended == 0);
    check(13, rdma_destroy_id(own) == 0);
    rdma_destroy_event_channel(channel);
    _exit(failed);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  rdma_cm_event* event = nullptr;
  REQUIRE(rdma_get_cm_event(channel, &event) == 0);
  CHECK(event->id == waiting);
  CHECK(rdma_ack_cm_event(event) == 0);
  CHECK(rdma_get_cm_event(channel, &event) != 0);
  for (rdma_cm_id* id : {waiting, caller, listener}) end(id);
  rdma_destroy_event_channel(channel);
}

TEST_CASE("a child of a fork holds no port of the parent's") {
  rdma_event_channel* channel = rdma_create_event_channel();
  rdma_cm_id* listener = new_listener(channel);
  const auto bind_again = [] {
    rdma_event_channel* own_channel = rdma_create_event_channel();
    rdma_cm_id* own = nullptr;
    sockaddr_in address = service();
    if (!own_channel || rdma_create_id(own_channel, &own, nullptr, RDMA_PS_TCP) != 0) return -1;
    const int error = rdma_bind_addr(own, reinterpret_cast<sockaddr*>(&address)) == 0 ? 0 : errno;
    rdma_destroy_id(own);
    rdma_destroy_event_channel(own_channel);
    return error;
  };
  int looked[2], freed[2];
  REQUIRE(pipe(looked) == 0);
  REQUIRE(pipe(freed) == 0);
  char byte = 0;
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    // As long as the parent has it, it is taken here as in any other process.
    if (bind_again() != EADDRINUSE) _exit(1);
    if (write(looked[1], &byte, 1) != 1 || read(freed[0], &byte, 1) != 1) _exit(2);
    _exit(bind_again() == 0 ? 0 : 3);
  }
  close(looked[1]);
  CHECK(read(looked[0], &byte, 1) == 1);
  end(listener);
  // Another process has it while the child lives.
  const pid_t other = fork();
  if (other == 0) {
    alarm(20);
    _exit(bind_again() == 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(other, &status, 0) == other);
  CHECK(status == 0);
  REQUIRE(write(freed[1], &byte, 1) == 1);
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  rdma_destroy_event_channel(channel);
  for (const int fd : {looked[0], freed[0], freed[1]}) close(fd);
}
