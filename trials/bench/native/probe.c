// How far apart the two processors are: a ping-pong of two processes over a flag in shared memory.
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "fail.h"
#include "options.h"
#include "peer.h"
#include "result.h"

// One cache line for each direction.
struct flags {
  _Alignas(64) atomic_uint ping;
  _Alignas(64) atomic_uint pong;
};

// Yields now and then: both may share one processor.
static void await(atomic_uint* flag, unsigned wanted) {
  for (unsigned spins = 1; atomic_load_explicit(flag, memory_order_acquire) != wanted; ++spins) {
    if (spins % 4096 == 0) sched_yield();
  }
}

int main(int argc, char** argv) {
  struct options options = {.size = 8, .count = 5000};
  parse_options(argc, argv, &options);
  struct flags* flags = mmap(NULL, sizeof *flags, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  uint64_t* samples = calloc(options.count, sizeof *samples);
  if (flags == MAP_FAILED || !samples) fail_with(ENOMEM, "-n");
  struct peer peer;
  peer_start(&peer);
  peer_meet(&peer);
  for (unsigned i = 1; i <= options.count; ++i) {
    const uint64_t start = now_ns();
    if (peer.is_server) {
      await(&flags->ping, i);
      atomic_store_explicit(&flags->pong, i, memory_order_release);
    } else {
      atomic_store_explicit(&flags->ping, i, memory_order_release);
      await(&flags->pong, i);
    }
    samples[i - 1] = now_ns() - start;
  }
  if (!peer.is_server) print_round_trips(samples, options.count);
  peer_finish(&peer);
}
