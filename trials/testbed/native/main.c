// Cases for two devices on a wire, by plain libibverbs. The end that listens prints a line of JSON for each case:
//   interop --listen ADDRESS:PORT --device soft0 --address 10.77.0.1
//   interop --connect ADDRESS:PORT --device rxe0 --address 10.77.0.2
// Each case runs twice, so that either end is the active one.
#include <err.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

void *list_keep(struct case_list *list, size_t size) {
  void *memory = calloc(1, size);
  if (memory == NULL || list->count < 0) err(2, "calloc");
  return memory;
}

void list_add(struct case_list *list, void (*run)(struct run *run, const void *argument), const void *argument,
              const char *format, ...) {
  if (list->count == (int)(sizeof list->cases / sizeof list->cases[0])) errx(2, "too many cases");
  char *name = NULL;
  va_list words;
  va_start(words, format);
  if (vasprintf(&name, format, words) < 0) err(2, "vasprintf");
  va_end(words);
  list->cases[list->count++] = (struct interop_case){name, run, argument};
}

struct options {
  const char *meeting;  // ADDRESS:PORT
  const char *device;
  const char *address;
  const char *only;
  uint8_t timeout;
  bool listens;
  bool lists;
};

static struct options read_options(int argc, char **argv) {
  static const struct option names[] = {
      {"listen", required_argument, NULL, 'l'}, {"connect", required_argument, NULL, 'c'},
      {"device", required_argument, NULL, 'd'}, {"address", required_argument, NULL, 'a'},
      {"only", required_argument, NULL, 'o'},   {"timeout", required_argument, NULL, 't'},
      {"list", no_argument, NULL, 'L'},         {NULL, 0, NULL, 0}};
  // Half a second, eight times: either end may stand still for seconds.
  struct options options = {.only = "", .timeout = 17};
  for (int name; (name = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    if (name == 'l' || name == 'c') options.meeting = optarg;
    if (name == 'l') options.listens = true;
    if (name == 'd') options.device = optarg;
    if (name == 'a') options.address = optarg;
    if (name == 'o') options.only = optarg;
    if (name == 't') options.timeout = (uint8_t)atoi(optarg);
    if (name == 'L') options.lists = true;
    if (name == '?') exit(2);
  }
  if (!options.lists && (options.meeting == NULL || options.device == NULL || options.address == NULL)) {
    errx(2, "give --listen or --connect, --device and --address");
  }
  return options;
}

static void make_contact(struct exchange *exchange, const struct options *options) {
  char address[64] = "";
  int port = 0;
  if (sscanf(options->meeting, "%63[0-9.]:%d", address, &port) != 2) errx(2, "%s is no ADDRESS:PORT", options->meeting);
  if (options->listens) {
    exchange_listen(exchange, address, port);
  } else {
    exchange_connect(exchange, address, port);
  }
}

static void report(const struct interop_case *which, bool active, const char *failure) {
  printf("{\"name\":\"%s\",\"active\":%s,\"failure\":", which->name, active ? "true" : "false");
  if (failure == NULL) {
    printf("null}\n");
  } else {
    // No reason has a quotation mark or a control character.
    printf("\"%s\"}\n", failure);
  }
  fflush(stdout);
}

int main(int argc, char **argv) {
  static struct case_list list;
  add_message_cases(&list);
  add_stream_cases(&list);
  add_receive_cases(&list);
  add_error_cases(&list);
  add_window_cases(&list);
  add_datagram_cases(&list);

  const struct options options = read_options(argc, argv);
  struct end end = {.timeout = options.timeout};
  struct exchange exchange = {0};
  if (!options.lists) {
    end_open(&end, options.device, options.address);
    make_contact(&exchange, &options);
  }
  int failures = 0;
  for (int i = 0; i < list.count; ++i) {
    const struct interop_case *which = &list.cases[i];
    if (strstr(which->name, options.only) == NULL) continue;
    if (options.lists) {
      puts(which->name);
      continue;
    }
    for (int turn = 0; turn < 2; ++turn) {
      const bool active = (turn == 0) == options.listens;
      const char *failure = run_case(&end, &exchange, active, which);
      if (failure != NULL) ++failures;
      if (options.listens) report(which, active, failure);
    }
  }
  return failures == 0 ? 0 : 1;
}
