// A stream of RDMA WRITEs between two devices of one process: the cost of the calls, without the scheduler.
#include "options.h"
#include "queue_pair.h"
#include "result.h"
#include "writes.h"

int main(int argc, char** argv) {
  struct options options = {.size = 64, .count = 100000, .window = 64, .list = 1};
  parse_options(argc, argv, &options);
  struct queue_pair left = {0};
  struct queue_pair right = {0};
  queue_pair_open_both(&left, &right, writes_bytes(&options), options.window);
  queue_pair_receive(&right, 0, 0);
  writes_fill(&left, &options);
  struct writes writes = {.options = &options};
  const uint64_t start = now_ns();
  int arrived = 0;
  struct ibv_wc completion;
  while (writes_step(&writes, &left)) arrived += queue_pair_poll(&right, &completion, 1);
  const uint64_t duration = now_ns() - start;
  while (arrived == 0) arrived += queue_pair_poll(&right, &completion, 1);
  writes_check(&right, &options);
  print_rate(options.count, options.size, duration);
  queue_pair_close(&left);
  queue_pair_close(&right);
  return 0;
}
