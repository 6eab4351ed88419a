// A thread in the victim that takes commands from a socket, a line each: NAME [NUMBER]… It answers "ok [RESULT]" or
// "error ERRNO". The victim's own code knows nothing of it, so that any program, in any language, can be one.
#define _GNU_SOURCE
#include "gremlin.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const struct {
  const char *name;
  gremlin_command run;
} commands[] = {
    {"protect", gremlin_protect}, {"unmap", gremlin_unmap},       {"remap", gremlin_remap},     {"heap", gremlin_heap},
    {"clock", gremlin_clock},     {"block", gremlin_block},       {"handler", gremlin_handler}, {"fork", gremlin_fork},
    {"buffers", gremlin_buffers}, {"sendfail", gremlin_sendfail},
};

static int listener = -1;

static void answer(int connection, char *line) {
  char *rest = NULL;
  const char *name = strtok_r(line, " \n", &rest);
  long long numbers[4] = {0};
  for (size_t i = 0; i < 4; i++) {
    const char *word = strtok_r(NULL, " \n", &rest);
    if (!word) break;
    numbers[i] = strtoll(word, NULL, 0);
  }
  char result[128] = "";
  int failed = ENOSYS;
  for (size_t i = 0; name && i < sizeof commands / sizeof *commands; i++) {
    if (strcmp(commands[i].name, name) == 0) failed = commands[i].run(numbers, result, sizeof result);
  }
  if (failed)
    dprintf(connection, "error %d\n", failed);
  else
    dprintf(connection, "ok %s\n", result);
}

// No stream of the C library: it would be locked while this thread waits, and exit() of glibc 2.41 waits for it; that
// of 2.36 does not.
static bool read_line(int connection, char *line, size_t room) {
  for (size_t length = 0; length + 1 < room;) {
    if (read(connection, line + length, 1) != 1) return false;
    if (line[length++] != '\n') continue;
    line[length] = '\0';
    return true;
  }
  return false;
}

static void *serve(void *unused) {
  (void)unused;
  const int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (connection < 0) return NULL;
  char line[256];
  while (read_line(connection, line, sizeof line)) answer(connection, line);
  close(connection);
  return NULL;
}

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("CHAOS_GREMLIN");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!path || strlen(path) >= sizeof address.sun_path) return;
  strcpy(address.sun_path, path);
  // The victim's children have nothing to do with it.
  unsetenv("CHAOS_GREMLIN");
  unsetenv("LD_PRELOAD");
  listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1)) return;

  // The program's signals are for the program's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  if (pthread_create(&thread, NULL, serve, NULL) == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}
