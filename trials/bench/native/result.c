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

// The sample below which that share of the sorted samples lies.
static uint64_t percentile(const uint64_t* sorted, size_t count, double share) {
  return sorted[(size_t)((double)(count - 1) * share)];
}

uint64_t percentile_of(uint64_t* samples, size_t count, double share) {
  qsort(samples, count, sizeof *samples, compare);
  return percentile(samples, count, share);
}

static void print_samples(uint64_t* samples, size_t count) {
  qsort(samples, count, sizeof *samples, compare);
  printf("{\"unit\":\"ns\",\"min\":%" PRIu64 ",\"median\":%" PRIu64 ",\"p99\":%" PRIu64 ",\"p999\":%" PRIu64,
         samples[0], percentile(samples, count, 0.5), percentile(samples, count, 0.99),
         percentile(samples, count, 0.999));
}

void print_round_trips(uint64_t* samples, size_t count) {
  print_samples(samples, count);
  printf("}\n");
}

void print_round_trips_with(uint64_t* samples, size_t count, const char* name, double value) {
  print_samples(samples, count);
  printf(",\"%s\":%.6g}\n", name, value);
}

void print_rate(uint64_t messages, uint64_t size, uint64_t duration_ns) {
  const double rate = (double)messages * 1e9 / (double)duration_ns;
  printf("{\"unit\":\"MB/s\",\"rate\":%.6g,\"messages\":%.6g}\n", rate * (double)size / 1e6, rate);
}
