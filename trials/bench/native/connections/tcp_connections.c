// The measure of cm_connections: TCP's connections over the loopback interface, with the same numbers.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connections/connections.h"
#include "fail.h"
#include "options.h"
#include "peer.h"
#include "result.h"

static int poller;

static void watch(int fd, uint32_t events, int operation) {
  struct epoll_event event = {.events = events, .data.fd = fd};
  if (epoll_ctl(poller, operation, fd, &event) != 0) fail_with(errno, "epoll_ctl");
}

// Each connection has a descriptor in each process.
static void allow_descriptors(uint32_t count) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = count + 64;
  if (limit.rlim_cur > limit.rlim_max) limit.rlim_max = limit.rlim_cur;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) fail_with(errno, "as many descriptors as connections");
}

static int new_socket(void) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) fail_with(errno, "socket");
  return fd;
}

static void start(const struct sockaddr_in* server) {
  const int fd = new_socket();
  // Closed by a reset: otherwise the port could not be used again for a minute, and ports run out.
  const struct linger reset = {.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  if (connect(fd, (const struct sockaddr*)server, sizeof *server) != 0 && errno != EINPROGRESS) {
    fail_with(errno, "connect");
  }
  watch(fd, EPOLLOUT, EPOLL_CTL_ADD);
}

static void client_event(int fd, struct connections* connections) {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) fail_with(error, "connect");
  if (established(connections)) {
    close(fd);
    closed(connections);
  } else {
    watch(fd, 0, EPOLL_CTL_MOD);
  }
}

static void server_event(int fd, int listener, struct connections* connections) {
  if (fd != listener) {
    close(fd);
    closed(connections);
    return;
  }
  const int accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (accepted < 0) {
    if (errno != EAGAIN && errno != ECONNABORTED) fail_with(errno, "accept");
    return;
  }
  established(connections);
  watch(accepted, EPOLLIN, EPOLL_CTL_ADD);
}

static int listen_at(struct sockaddr_in* address) {
  const int fd = new_socket();
  socklen_t length = sizeof *address;
  *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(fd, (struct sockaddr*)address, length) != 0 || listen(fd, 1024) != 0) fail_with(errno, "listen");
  getsockname(fd, (struct sockaddr*)address, &length);
  watch(fd, EPOLLIN, EPOLL_CTL_ADD);
  return fd;
}

int main(int argc, char** argv) {
  struct options options = {.count = 1000, .window = 32};
  parse_options(argc, argv, &options);
  allow_descriptors(options.count);
  struct peer peer;
  peer_start(&peer);
  poller = epoll_create1(EPOLL_CLOEXEC);
  struct sockaddr_in mine = {0}, server;
  const int listener = peer.is_server ? listen_at(&mine) : -1;
  peer_swap(&peer, &mine, &server, sizeof mine);
  struct connections connections = {.count = options.count, .window = options.window, .is_server = peer.is_server};
  const uint64_t begin = now_ns();
  while (!all_established(&connections)) {
    while (!peer.is_server && may_start(&connections)) start(&server);
    struct epoll_event events[64];
    const int count = epoll_wait(poller, events, 64, -1);
    if (count < 0 && errno != EINTR) fail_with(errno, "epoll_wait");
    for (int i = 0; i < count; ++i) {
      if (peer.is_server) {
        server_event(events[i].data.fd, listener, &connections);
      } else {
        client_event(events[i].data.fd, &connections);
      }
    }
  }
  if (!peer.is_server) print_connections(options.count, now_ns() - begin);
  peer_meet(&peer);
  peer_finish(&peer);
}
