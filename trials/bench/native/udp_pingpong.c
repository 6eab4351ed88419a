// The floor of a ping-pong: bare UDP sockets of two processes, which spin for the reply.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fail.h"
#include "options.h"
#include "peer.h"
#include "result.h"

static int open_socket(const struct peer* peer) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in mine = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_in theirs;
  socklen_t length = sizeof mine;
  if (fd < 0 || bind(fd, (struct sockaddr*)&mine, length) != 0) fail_with(errno, "a UDP socket on 127.0.0.1");
  getsockname(fd, (struct sockaddr*)&mine, &length);
  peer_swap(peer, &mine, &theirs, sizeof mine);
  if (connect(fd, (struct sockaddr*)&theirs, sizeof theirs) != 0) fail_with(errno, "connect");
  peer_meet(peer);
  return fd;
}

static void put(int fd, const char* buffer, size_t size) {
  if (send(fd, buffer, size, 0) != (ssize_t)size) fail_with(errno, "send");
}

static void take(int fd, char* buffer, size_t size) {
  ssize_t got;
  while ((got = recv(fd, buffer, size, MSG_DONTWAIT)) < 0 && errno == EAGAIN) continue;
  if (got < 0) fail_with(errno, "recv");
}

int main(int argc, char** argv) {
  struct options options = {.size = 64, .count = 20000};
  parse_options(argc, argv, &options);
  struct peer peer;
  peer_start(&peer);
  const int fd = open_socket(&peer);
  char* buffer = calloc(1, options.size);
  uint64_t* samples = calloc(options.count, sizeof *samples);
  if (!buffer || !samples) fail_with(ENOMEM, "-s or -n");
  for (uint32_t i = 0; i < options.count; ++i) {
    const uint64_t start = now_ns();
    if (!peer.is_server) put(fd, buffer, options.size);
    take(fd, buffer, options.size);
    if (peer.is_server) put(fd, buffer, options.size);
    samples[i] = now_ns() - start;
  }
  peer_meet(&peer);
  if (!peer.is_server) print_round_trips(samples, options.count);
  peer_finish(&peer);
}
