// A process with one or both ends of a connection, to which something will happen: on libibverbs alone.
// victim SEED {DEVICE NUMBER await|poll}…: commands come as lines, NUMBER END COMMAND [WORD]…, END is - for one of the
// process; each is answered with a line of JSON.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "end.h"
#include "faults.h"
#include "leftovers.h"
#include "pattern.h"
#include "requests.h"

enum { WORDS = 8, STACK = 256 << 10 };

extern char **environ;
static struct end ends[2];
static int count;
static struct held baseline;

static void print_report(struct end *end) {
  pthread_mutex_lock(&end->lock);
  const struct tally *tally = &end->tally;
  printf("{\"messages\":%u,\"sent\":%u,\"pending\":%u,\"bytes\":%llu,\"wrong\":[", end->received, end->sent,
         end->pending, (unsigned long long)tally->bytes);
  for (int i = 0; i < tally->wrongs; i++) printf("%s\"%s\"", i ? "," : "", tally->wrong[i]);
  printf("],\"statuses\":[");
  for (int i = 0; i < tally->errors; i++) printf("%s\"%s\"", i ? "," : "", tally->statuses[i]);
  printf("]}");
  pthread_mutex_unlock(&end->lock);
}

// The GID is the second word of what the peer printed.
static const char *connect_end(struct end *end, char *const *words) {
  union ibv_gid gid;
  if (inet_pton(AF_INET6, words[1], &gid) != 1) return "inet_pton";
  const char *failed = end_connect(end, (uint32_t)strtoul(words[0], NULL, 10), &gid);
  if (failed) return failed;
  const struct memory *memory = &end->memory;
  printf("{\"remote\":{\"addr\":\"%llu\",\"rkey\":%u},\"pages\":{\"addr\":\"%llu\",\"length\":%u}}",
         (unsigned long long)(uintptr_t)memory->window, memory->shared_mr->rkey,
         (unsigned long long)(uintptr_t)memory->area, AREA);
  return NULL;
}

static const char *make_end(struct end *end) {
  const char *failed = end_disconnect(end);
  if (!failed) failed = end_make(end);
  char text[INET6_ADDRSTRLEN];
  if (!failed)
    printf("{\"qpNum\":%u,\"gid\":\"%s\"}", end->qp->qp_num, inet_ntop(AF_INET6, &end->gid, text, sizeof text));
  return failed;
}

// Prints the result, or returns what failed.
static const char *of_end(struct end *end, const char *command, char *const *words) {
  const char *failed = NULL;
  if (strcmp(command, "make") == 0) return make_end(end);
  if (strcmp(command, "connect") == 0) return connect_end(end, words);
  if (strcmp(command, "start") == 0) {
    const struct peer peer = {strtoull(words[0], NULL, 10), (uint32_t)strtoul(words[1], NULL, 10)};
    end_start(end, &peer, words[2] ? (uint32_t)strtoul(words[2], NULL, 10) : UINT32_MAX);
  } else if (strcmp(command, "stop") == 0) {
    end_stop(end);
  } else if (strcmp(command, "report") == 0) {
    print_report(end);
    return NULL;
  } else if (strcmp(command, "open") == 0) {
    failed = end_open(end);
  } else if (strcmp(command, "close") == 0) {
    failed = end_close(end);
  } else {
    errno = ENOSYS;
    failed = command;
  }
  if (!failed) printf("{}");
  return failed;
}

// Everything that is loaded or opened once and for all: after this, what is more is left over.
static const char *take_baseline(void) {
  const char *failed = NULL;
  for (int i = 0; i < count && !failed; i++) {
    failed = end_open(&ends[i]);
    if (!failed) failed = end_make(&ends[i]);
    if (!failed) failed = end_close(&ends[i]);
  }
  held_now(&baseline);
  return failed;
}

static void print_children(long number) {
  printf("{\"statuses\":[");
  for (long i = 0; i < number; i++) {
    char *const arguments[] = {"true", NULL};
    pid_t child;
    int status = posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ);
    if (status == 0 && waitpid(child, &status, 0) < 0) status = errno;
    printf("%s%d", i ? "," : "", status);
  }
  printf("]}");
}

static void ignore(int signal) { (void)signal; }

static const char *of_process(const char *command, char *const *words) {
  const char *failed = NULL;
  if (strcmp(command, "leftovers") == 0) {
    printf("{\"found\":[");
    print_leftovers(&baseline, strtol(words[0], NULL, 10), atoi(words[1]), atoi(words[2]));
    printf("]}");
  } else if (strcmp(command, "spawn") == 0) {
    print_children(strtol(words[0], NULL, 10));
  } else if (strcmp(command, "requests") == 0) {
    print_requests(words[0], atoi(words[1]), atoi(words[2]));
  } else if (strcmp(command, "trap") == 0) {
    printf("{\"traps\":%d}", faults_try());
  } else if (strcmp(command, "baseline") == 0) {
    failed = take_baseline();
    if (!failed) printf("{}");
  } else if (strcmp(command, "on-signal") == 0 && strcmp(words[0], "SIGTRAP") == 0) {
    const struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    if (sigaction(SIGTRAP, &action, NULL)) return "sigaction";
    printf("{}");
  } else {
    errno = ENOSYS;
    failed = command;
  }
  return failed;
}

static void answer(char *line) {
  char *words[WORDS + 1] = {NULL}, *rest = NULL;
  int number = 0;
  for (char *word = strtok_r(line, " \n", &rest); word && number < WORDS; word = strtok_r(NULL, " \n", &rest))
    words[number++] = word;
  if (number < 3) return;
  printf("{\"id\":%s,\"result\":", words[0]);
  const char *failed =
      words[1][0] == '-' ? of_process(words[2], words + 3) : of_end(&ends[atoi(words[1]) & 1], words[2], words + 3);
  if (failed) {
    const char *code = strerrorname_np(errno);
    printf("{},\"error\":{\"message\":\"%s: %s\",\"code\":\"%s\"}", failed, strerror(errno), code ? code : "");
  }
  printf("}\n");
  fflush(stdout);
}

// Touches the stack that calls need, so that it is there when the process may have no more memory.
static __attribute__((noinline)) int take_stack(void) {
  volatile char stack[STACK];
  for (int i = 0; i < STACK; i += PAGE) stack[i] = 0;
  return stack[0];
}

int main(int argc, char **argv) {
  if (argc < 5 || take_stack() != 0) return 2;
  for (; count < 2 && argc >= 5 + 3 * count; count++) {
    char **own = argv + 2 + 3 * count;
    ends[count] = (struct end){.device = own[0], .me = (uint32_t)atoi(own[1]), .polls = own[2][0] == 'p'};
    ends[count].seed = (uint32_t)strtoul(argv[1], NULL, 10);
    pthread_mutex_init(&ends[count].lock, NULL);
  }
  pattern_make(ends[0].seed);
  if ((ends[0].seed & 1) == 0) faults_install();
  static char line[512], output[8192];
  setvbuf(stdout, output, _IOFBF, sizeof output);
  printf("{\"ready\":true}\n");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) answer(line);
  return 0;
}
