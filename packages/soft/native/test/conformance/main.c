// usage: conformance [--device NAME] [--gid INDEX] [--only TEXT] [--exact] [--json] [--list]
//
// Prints TAP (or, with --json, one object a line). Exit status 0: nothing failed.
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "options.h"

struct options options = {.gid = -1};

extern const struct test_group states_group, resources_group, data_group, access_group, errors_group, atomics_group,
    windows_group, srq_group, events_group, datagram_group, completion_group;

static const struct test_group *const kGroups[] = {
    &states_group,  &resources_group, &data_group,   &access_group,   &errors_group,     &atomics_group,
    &windows_group, &srq_group,       &events_group, &datagram_group, &completion_group,
};

enum verdict { kPassed, kFailed, kSkipped };

// The result of a case, from its process: notes are lines, the last text is the reason.
static char message[2048];
static int result_fd = -1;

static void send_result(char kind, const char *text) {
  const ssize_t ignored = write(result_fd, &kind, 1) + write(result_fd, text, strlen(text) + 1);
  (void)ignored;
}

void fail_case(const char *file, int line, const char *format, ...) {
  char text[900], whole[1000];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  const char *name = strrchr(file, '/');
  snprintf(whole, sizeof whole, "%s:%d: %s", name != NULL ? name + 1 : file, line, text);
  send_result('f', whole);
  _exit(1);
}

void skip_case(const char *reason) {
  send_result('s', reason);
  _exit(0);
}

void note_case(const char *format, ...) {
  char text[300];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  send_result('n', text);
}

void expect_status(const char *file, int line, enum ibv_wc_status actual, enum ibv_wc_status expected) {
  if (actual == expected) return;
  fail_case(file, line, "the completion is \"%s\", not \"%s\"", ibv_wc_status_str(actual), ibv_wc_status_str(expected));
}

static enum verdict read_result(int fd) {
  char all[sizeof message];
  size_t size = 0;
  ssize_t got = 0;
  while (size < sizeof all - 1 && (got = read(fd, all + size, sizeof all - 1 - size)) > 0) size += (size_t)got;
  all[size] = '\0';
  enum verdict verdict = kPassed;
  for (size_t at = 0; at < size; at += strlen(&all[at]) + 1) {
    if (all[at] == 'f') verdict = kFailed;
    if (all[at] == 's') verdict = kSkipped;
    const size_t used = strlen(message);
    snprintf(message + used, sizeof message - used, "%s%s", used != 0 ? "; " : "", &all[at + 1]);
  }
  return verdict;
}

static enum verdict run_case(const struct test_case *test) {
  enum { kSeconds = 60 };
  int fds[2];
  message[0] = '\0';
  if (pipe(fds) != 0) return kFailed;
  fflush(stdout);
  const pid_t child = fork();
  if (child < 0) return kFailed;
  if (child == 0) {
    close(fds[0]);
    result_fd = fds[1];
    alarm(kSeconds);
    test->run();
    _exit(0);
  }
  close(fds[1]);
  enum verdict verdict = read_result(fds[0]);
  close(fds[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    const char *reason = WTERMSIG(status) == SIGALRM ? "no end within a minute" : strsignal(WTERMSIG(status));
    snprintf(message, sizeof message, "the process was ended: %s", reason);
    return kFailed;
  }
  return verdict;
}

static void print_text(const char *text) {
  for (; *text != '\0'; ++text) {
    if (*text == '"' || *text == '\\') putchar('\\');
    putchar(*text >= ' ' ? *text : ' ');
  }
}

static void print_result(int number, const char *name, enum verdict verdict) {
  static const char *const kNames[] = {"passed", "failed", "skipped"};
  if (options.json) {
    printf("{\"case\":\"");
    print_text(name);
    printf("\",\"result\":\"%s\",\"message\":\"", kNames[verdict]);
    print_text(message);
    printf("\"}\n");
    return;
  }
  printf("%s %d - %s", verdict == kFailed ? "not ok" : "ok", number, name);
  if (verdict == kSkipped) printf(" # SKIP %s", message);
  printf("\n");
  if (verdict != kSkipped && message[0] != '\0') printf("  # %s\n", message);
}

static int usage(void) {
  fprintf(stderr, "usage: conformance [--device NAME] [--gid INDEX] [--only TEXT] [--exact] [--json] [--list]\n");
  return 2;
}

int main(int argc, char **argv) {
  bool list = false;
  for (int i = 1; i < argc; ++i) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(argv[i], "--json") == 0) {
      options.json = true;
    } else if (strcmp(argv[i], "--exact") == 0) {
      options.exact = true;
    } else if (strcmp(argv[i], "--list") == 0) {
      list = true;
    } else if (value == NULL) {
      return usage();
    } else if (strcmp(argv[i], "--device") == 0) {
      options.device = argv[++i];
    } else if (strcmp(argv[i], "--gid") == 0) {
      options.gid = atoi(argv[++i]);
    } else if (strcmp(argv[i], "--only") == 0) {
      options.only = argv[++i];
    } else {
      return usage();
    }
  }
  int number = 0, counts[3] = {0};
  for (size_t g = 0; g < sizeof kGroups / sizeof kGroups[0]; ++g) {
    for (size_t c = 0; c < kGroups[g]->count; ++c) {
      char name[256];
      snprintf(name, sizeof name, "%s: %s", kGroups[g]->name, kGroups[g]->cases[c].name);
      if (options.only != NULL && strstr(name, options.only) == NULL) continue;
      ++number;
      if (list) {
        printf("%s\n", name);
        continue;
      }
      const enum verdict verdict = run_case(&kGroups[g]->cases[c]);
      ++counts[verdict];
      print_result(number, name, verdict);
    }
  }
  if (list) return 0;
  if (!options.json) printf("1..%d\n# passed %d, failed %d, skipped %d\n", number, counts[0], counts[1], counts[2]);
  return counts[kFailed] != 0 || number == 0;
}
