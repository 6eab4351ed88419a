#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "twin.h"

static const struct scenario *const all[] = {device_scenarios,  memory_scenarios,   queue_scenarios,
                                             posting_scenarios, steering_scenarios, extended_scenarios,
                                             removal_scenarios};

void fail(const char *expression, const char *file, int line) {
  fprintf(stderr, "%s:%d: %s: %s\n", file, line, expression, strerror(errno));
  exit(1);
}

void control(const char *format, ...) {
  static int fd = -1;
  if (fd < 0) fd = open("/dev/infiniband/control", O_RDWR | O_CLOEXEC);
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  REQUIRE(write(fd, line, (size_t)length) == length);
}

void saw(const char *format, ...) {
  char line[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  control("section saw %s", line);
}

void *pages(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return memory;
}

static struct ibv_context *open_device(void) {
  struct ibv_device **list = ibv_get_device_list(NULL);
  REQUIRE(list != NULL && list[0] != NULL);
  struct ibv_context *context = ibv_open_device(list[0]);
  REQUIRE(context != NULL);
  ibv_free_device_list(list);
  return context;
}

static const struct scenario *find(const char *name) {
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) {
    for (const struct scenario *scenario = all[i]; scenario->name != NULL; ++scenario) {
      if (strcmp(scenario->name, name) == 0) return scenario;
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) {
      for (const struct scenario *scenario = all[i]; scenario->name != NULL; ++scenario) puts(scenario->name);
    }
    return 0;
  }
  const struct scenario *scenario = find(argv[1]);
  if (scenario == NULL) {
    fprintf(stderr, "there is no scenario %s\n", argv[1]);
    return 2;
  }
  struct ibv_context *context = open_device();
  scenario->run(context);
  REQUIRE(ibv_close_device(context) == 0);
  return 0;
}
