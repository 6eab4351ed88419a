// A ping-pong of RC SENDs between two devices of one process: the cost of the calls, without the scheduler.
#include <errno.h>
#include <stdlib.h>

#include "fail.h"
#include "messages.h"
#include "options.h"
#include "queue_pair.h"
#include "result.h"

int main(int argc, char** argv) {
  struct options options = {.size = 64, .count = 20000};
  parse_options(argc, argv, &options);
  struct queue_pair left = {0};
  struct queue_pair right = {0};
  queue_pair_open_both(&left, &right, 2 * (size_t)options.size, kMessageDepth);
  messages_begin(&left, options.size);
  messages_begin(&right, options.size);
  uint64_t* samples = calloc(options.count, sizeof *samples);
  if (!samples) fail_with(ENOMEM, "-n");
  for (uint32_t i = 0; i < options.count; ++i) {
    const uint64_t start = now_ns();
    send_message(&left, options.size);
    take_message(&right, options.size);
    send_message(&right, options.size);
    take_message(&left, options.size);
    samples[i] = now_ns() - start;
  }
  print_round_trips(samples, options.count);
  queue_pair_close(&left);
  queue_pair_close(&right);
  return 0;
}
