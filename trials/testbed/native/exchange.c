#include "exchange.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum kind { SWAP = 1, OUTCOME = 2 };

struct header {
  uint32_t kind;
  uint32_t size;
};

// Longer than any case may take.
static const struct timeval silence = {.tv_sec = 120};

static struct sockaddr_in address_of(const char *address, int port) {
  struct sockaddr_in result = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  if (inet_pton(AF_INET, address, &result.sin_addr) != 1) errx(2, "%s is no IPv4 address", address);
  return result;
}

static void use(struct exchange *exchange, int connection) {
  const int on = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof silence);
  exchange->socket = connection;
}

void exchange_listen(struct exchange *exchange, const char *address, int port) {
  const struct sockaddr_in name = address_of(address, port);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (const struct sockaddr *)&name, sizeof name) != 0) err(2, "bind");
  if (listen(listener, 1) != 0) err(2, "listen");
  const int connection = accept(listener, NULL, NULL);
  if (connection < 0) err(2, "accept");
  close(listener);
  use(exchange, connection);
}

void exchange_connect(struct exchange *exchange, const char *address, int port) {
  const struct sockaddr_in name = address_of(address, port);
  for (int attempt = 0; attempt < 300; ++attempt) {
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection, (const struct sockaddr *)&name, sizeof name) == 0) {
      use(exchange, connection);
      return;
    }
    close(connection);
    usleep(100000);
  }
  errx(2, "nobody listens at %s:%d", address, port);
}

static void put(const struct exchange *exchange, enum kind kind, const void *data, size_t size) {
  const struct header header = {.kind = kind, .size = (uint32_t)size};
  if (send(exchange->socket, &header, sizeof header, MSG_MORE | MSG_NOSIGNAL) != (ssize_t)sizeof header ||
      send(exchange->socket, data, size, MSG_NOSIGNAL) != (ssize_t)size) {
    err(2, "the peer is gone");
  }
}

static void take(const struct exchange *exchange, void *data, size_t size) {
  if (size == 0) return;
  const ssize_t got = recv(exchange->socket, data, size, MSG_WAITALL);
  if (got != (ssize_t)size) err(2, got == 0 ? "the peer ended" : "the peer says nothing");
}

// The next frame is the outcome, and there is none before it: the ends keep step.
static enum kind take_frame(struct exchange *exchange, void *data, size_t size) {
  struct header header;
  take(exchange, &header, sizeof header);
  if (header.kind == OUTCOME) {
    take(exchange, exchange->peer_text, sizeof exchange->peer_text);
    exchange->peer_ended = true;
    return OUTCOME;
  }
  unsigned char rest[4096];
  if (header.size > sizeof rest) errx(2, "a frame of %u bytes", header.size);
  if (data != NULL && header.size != size) errx(2, "the ends are not at the same step");
  take(exchange, data != NULL ? data : rest, header.size);
  return SWAP;
}

bool exchange_swap(struct exchange *exchange, const void *mine, void *theirs, size_t size) {
  if (exchange->peer_ended) return false;
  put(exchange, SWAP, mine, size);
  return take_frame(exchange, theirs, size) == SWAP;
}

void exchange_outcome(struct exchange *exchange, const char *text) {
  char padded[OUTCOME_TEXT] = "";
  strncat(padded, text, sizeof padded - 1);
  put(exchange, OUTCOME, padded, sizeof padded);
  while (!exchange->peer_ended) take_frame(exchange, NULL, 0);
  exchange->peer_ended = false;
}
