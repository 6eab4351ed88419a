/*
 * What librdmacm answers to bad arguments and to calls in the wrong state. A line for each case, and one for each of
 * its calls: what it returned, and the event that came of it. The output of the kernel's librdmacm is the standard for
 * ours.
 *
 * refusals IPV4 IPV6 [TEXT]: the addresses of the RDMA device, and which cases.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"

/* Seconds of a case. */
enum { kLimit = 120 };

static void run_case(const struct test_case *one) {
  printf("%s\n", one->name);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(kLimit);
    one->run();
    /* What it leaves open is the library's to clean up, as after any program. */
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) printf("%s\n", WTERMSIG(status) == SIGALRM ? "blocks" : "crashes");
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s IPV4 IPV6 [TEXT]\n", argv[0]);
    return 2;
  }
  set_own(argv[1], argv[2]);
  const char *wanted = argc > 3 ? argv[3] : "";
  const struct test_case *groups[] = {channel_cases, address_cases, connect_cases,   passive_cases, queue_cases,
                                      option_cases,  ece_cases,     multicast_cases, endpoint_cases};
  for (unsigned i = 0; i < sizeof groups / sizeof *groups; ++i) {
    for (const struct test_case *one = groups[i]; one->name; ++one) {
      if (strstr(one->name, wanted)) run_case(one);
    }
  }
  return 0;
}
