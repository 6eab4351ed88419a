// What a debugger does to a process: it attaches to all threads, which stop, and detaches after a while.
// debugger PID MILLISECONDS; without arguments it tries itself on a child, and says why it may not.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kMostThreads = 256 };

static pid_t threads[kMostThreads];
static int count;

static bool is_attached(pid_t thread) {
  for (int i = 0; i < count; i++) {
    if (threads[i] == thread) return true;
  }
  return false;
}

// Waits until the thread has stopped for us. Signals of its own that come first go on to it.
static int stop(pid_t thread) {
  for (;;) {
    int status = 0;
    if (waitpid(thread, &status, __WALL) != thread) return errno;
    if (!WIFSTOPPED(status)) return ESRCH;  // it has ended
    if (WSTOPSIG(status) == SIGSTOP) return 0;
    if (ptrace(PTRACE_CONT, thread, NULL, (void *)(long)WSTOPSIG(status)) != 0) return errno;
  }
}

// Attaches to the threads that it does not have yet. The number of new ones, or a negative errno.
static int attach(pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", (int)process);
  DIR *folder = opendir(path);
  if (!folder) return -errno;
  int found = 0;
  for (struct dirent *entry = readdir(folder); entry && count < kMostThreads; entry = readdir(folder)) {
    const pid_t thread = (pid_t)atoi(entry->d_name);
    if (thread <= 0 || is_attached(thread)) continue;
    int error = ptrace(PTRACE_ATTACH, thread, NULL, NULL) == 0 ? stop(thread) : errno;
    if (error == ESRCH) continue;  // it has ended meanwhile
    if (error != 0) {
      closedir(folder);
      return -error;
    }
    threads[count++] = thread;
    found++;
  }
  closedir(folder);
  return found;
}

static int debug(pid_t process, long milliseconds) {
  int found = attach(process);
  // A thread may have started another one before it stopped.
  while (found > 0) found = attach(process);
  if (found == 0 && count == 0) found = -ESRCH;
  const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  if (found == 0) nanosleep(&time, NULL);
  for (int i = 0; i < count; i++) ptrace(PTRACE_DETACH, threads[i], NULL, NULL);
  return -found;
}

static int try_it(void) {
  const pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) {
    for (;;) pause();
  }
  const int error = debug(child, 1);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return error;
}

int main(int arguments, char **argument) {
  const int error = arguments == 3 ? debug((pid_t)atoi(argument[1]), atol(argument[2])) : try_it();
  if (error == 0) {
    printf("%d threads\n", count);
    return 0;
  }
  fprintf(stderr, "ptrace: %s\n", strerror(error));
  return 1;
}
