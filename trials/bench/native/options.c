#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Noreturn void usage(void) {
  fprintf(
      stderr,
      "usage: %s [-s BYTES] [-n COUNT] [-w WINDOW] [-l LIST] [-q QUEUE_PAIRS] [-p NEIGHBOURS] [-b] [-o] [-m] [-r]\n",
      program_invocation_short_name);
  exit(2);
}

static uint32_t number(const char* text) {
  char* end;
  errno = 0;
  const unsigned long value = strtoul(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || value == 0 || value > 1u << 30) usage();
  return (uint32_t)value;
}

void parse_options(int argc, char** argv, struct options* options) {
  int letter;
  while ((letter = getopt(argc, argv, "s:n:w:l:q:p:bmor")) != -1) {
    if (letter == 's') {
      options->size = number(optarg);
    } else if (letter == 'n') {
      options->count = number(optarg);
    } else if (letter == 'w') {
      options->window = number(optarg);
    } else if (letter == 'l') {
      options->list = number(optarg);
      if (options->list > kMaxList) usage();
    } else if (letter == 'q') {
      options->queue_pairs = number(optarg);
    } else if (letter == 'p') {
      options->neighbours = number(optarg);
    } else if (letter == 'b') {
      options->idle_peer = true;
    } else if (letter == 'o') {
      options->one_place = true;
    } else if (letter == 'm') {
      options->shared = true;
    } else if (letter == 'r') {
      options->read = true;
    } else {
      usage();
    }
  }
  if (optind != argc) usage();
}
