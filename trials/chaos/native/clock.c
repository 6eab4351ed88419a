// Steps of the wall clock. Time namespaces have no CLOCK_REALTIME, so the C library's functions are replaced.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

#include "gremlin.h"

static atomic_llong offset_ms;

typedef int (*clock_gettime_function)(clockid_t, struct timespec *);

static clock_gettime_function original(void) {
  static _Atomic clock_gettime_function found;
  if (!found) found = (clock_gettime_function)dlsym(RTLD_NEXT, "clock_gettime");
  return found;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  const int failed = original()(clock, time);
  const long long offset = atomic_load_explicit(&offset_ms, memory_order_relaxed);
  if (failed || offset == 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return failed;
  long long nanoseconds = time->tv_nsec + offset % 1000 * 1000000;
  time->tv_sec += offset / 1000;
  time->tv_sec += nanoseconds / 1000000000 - (nanoseconds < 0);
  nanoseconds %= 1000000000;
  time->tv_nsec = nanoseconds + (nanoseconds < 0 ? 1000000000 : 0);
  return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  const int failed = clock_gettime(CLOCK_REALTIME, &now);
  if (!failed) *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return failed;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}

// clock OFFSET: the wall clock differs from the real one by so many milliseconds
int gremlin_clock(const long long *numbers, char *result, size_t room) {
  (void)result, (void)room;
  atomic_store(&offset_ms, numbers[0]);
  return 0;
}
