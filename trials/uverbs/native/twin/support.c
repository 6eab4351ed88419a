#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "twin/twin.h"

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
