#include "messages.h"

#include "fail.h"

void messages_begin(struct queue_pair* pair, uint32_t size) {
  for (int i = 0; i < kMessageDepth; ++i) queue_pair_receive(pair, size, size);
}

void send_message(struct queue_pair* pair, uint32_t size) {
  struct ibv_send_wr work = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  queue_pair_post(pair, 0, size, &work);
}

void take_message(struct queue_pair* pair, uint32_t size) {
  struct ibv_wc completions[kMessageDepth];
  for (int received = 0; received == 0;) {
    const int found = queue_pair_poll(pair, completions, kMessageDepth);
    for (int i = 0; i < found; ++i) {
      if (completions[i].opcode != IBV_WC_RECV) continue;
      if (completions[i].byte_len != size) fail("%u bytes came instead of %u", completions[i].byte_len, size);
      ++received;
    }
  }
  queue_pair_receive(pair, size, size);
}
