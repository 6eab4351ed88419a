// First contact of the two ends, by TCP over IPv4: they tell each other their queue pairs, keep step, and say how each
// case ended.
#ifndef VERBS_TESTBED_EXCHANGE_H
#define VERBS_TESTBED_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#define OUTCOME_TEXT 240

struct exchange {
  int socket;
  bool peer_ended;               // the peer left the case
  char peer_text[OUTCOME_TEXT];  // why; empty: it passed
};

// Both end the process if they fail.
void exchange_listen(struct exchange *exchange, const char *address, int port);
void exchange_connect(struct exchange *exchange, const char *address, int port);

// Sends `mine` and receives as many bytes as `theirs`. False if the peer has left the case instead.
bool exchange_swap(struct exchange *exchange, const void *mine, void *theirs, size_t size);

// Says how the case ended here (empty: it passed) and learns it from the peer.
void exchange_outcome(struct exchange *exchange, const char *text);

#endif
