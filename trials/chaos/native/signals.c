// Signal masks and handlers of the program, as a program or a library of it may set them.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "gremlin.h"

static const int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};

// The kernel restores a thread's mask from the frame when the handler returns: what is written there is the new mask.
static void set_mask(int signal, siginfo_t *info, void *context) {
  (void)signal;
  ucontext_t *frame = context;
  if (info->si_value.sival_int)
    memset(&frame->uc_sigmask, 0xff, sizeof frame->uc_sigmask);
  else
    sigemptyset(&frame->uc_sigmask);
  // Its own signal stays open, so that the mask can be taken back.
  sigdelset(&frame->uc_sigmask, SIGRTMAX - 3);
}

// block 1|0: every thread of the process blocks all signals, or none. The number of threads is the result.
int gremlin_block(const long long *numbers, char *result, size_t room) {
  const int number = SIGRTMAX - 3;
  struct sigaction action = {.sa_sigaction = set_mask, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
  sigfillset(&action.sa_mask);
  if (sigaction(number, &action, NULL)) return errno;
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return errno;
  int threads = 0;
  const pid_t self = gettid();
  for (struct dirent *entry; (entry = readdir(tasks));) {
    const pid_t thread = atoi(entry->d_name);
    if (thread == 0 || thread == self) continue;
    siginfo_t info = {.si_signo = number, .si_code = SI_QUEUE};
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_int = numbers[0] != 0;
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, number, &info) == 0) threads++;
  }
  closedir(tasks);
  snprintf(result, room, "%d", threads);
  return 0;
}

static struct sigaction previous[sizeof kFaults / sizeof *kFaults];
static atomic_int crashes;

// What crash reporters do: note it, and pass it on.
static void report_crash(int signal, siginfo_t *info, void *context) {
  atomic_fetch_add(&crashes, 1);
  for (size_t i = 0; i < sizeof kFaults / sizeof *kFaults; i++) {
    if (kFaults[i] != signal) continue;
    const struct sigaction *next = &previous[i];
    if (next->sa_flags & SA_SIGINFO) {
      next->sa_sigaction(signal, info, context);
    } else if (next->sa_handler == SIG_DFL) {
      sigaction(signal, next, NULL);
    } else if (next->sa_handler != SIG_IGN) {
      next->sa_handler(signal);
    }
  }
}

// handler FLAGS: puts a crash reporter in front of all handlers of faults; once. The number of its calls is the result.
int gremlin_handler(const long long *numbers, char *result, size_t room) {
  static bool installed;
  if (!installed) {
    installed = true;
    struct sigaction action = {.sa_sigaction = report_crash, .sa_flags = SA_SIGINFO | (int)numbers[0]};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof kFaults / sizeof *kFaults; i++) {
      if (sigaction(kFaults[i], &action, &previous[i])) return errno;
    }
  }
  snprintf(result, room, "%d", atomic_load(&crashes));
  return 0;
}
