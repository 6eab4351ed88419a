#include "result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int compare(const void* left, const void* right) {
  const uint64_t a = *(const uint64_t*)left;
  const uint64_t b = *(const uint64_t*)right;
  return (a > b) - (a < b);
}

void print_round_trips(uint64_t* samples, size_t count) {
  qsort(samples, count, sizeof *samples, compare);
  printf("{\"unit\":\"ns\",\"min\":%" PRIu64 ",\"median\":%" PRIu64 ",\"p99\":%" PRIu64 "}\n", samples[0],
         samples[count / 2], samples[count - 1 - count / 100]);
}

void print_rate(uint64_t messages, uint64_t size, uint64_t duration_ns) {
  const double rate = (double)messages * 1e9 / (double)duration_ns;
  printf("{\"unit\":\"MB/s\",\"rate\":%.6g,\"messages\":%.6g}\n", rate * (double)size / 1e6, rate);
}
