// Children of the victim, by fork alone and by fork and exec, from a thread that holds nothing.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gremlin.h"

// fork COUNT EXEC: so many children, one after the other; each lives for some milliseconds. Fails with ECHILD if one
// ended otherwise than by its own exit.
int gremlin_fork(const long long *numbers, char *result, size_t room) {
  int clean = 0;
  for (long long i = 0; i < numbers[0]; i++) {
    const pid_t child = fork();
    if (child < 0) return errno;
    if (child == 0) {
      if (numbers[1]) execl("/bin/true", "true", (char *)NULL);
      const struct timespec moment = {.tv_nsec = 3000000};
      nanosleep(&moment, NULL);
      _exit(0);
    }
    int status = 0;
    // Node collects its own children by number, so this one is ours alone.
    if (waitpid(child, &status, 0) != child) return errno;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return ECHILD;
    clean++;
  }
  snprintf(result, room, "%d", clean);
  return 0;
}
