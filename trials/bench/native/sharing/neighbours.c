#include "sharing/neighbours.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "fail.h"

// A protection domain, so that the device has its address.
static void be_neighbour(int ready) {
  struct ibv_device** devices = ibv_get_device_list(NULL);
  struct ibv_context* context = devices && devices[0] ? ibv_open_device(devices[0]) : NULL;
  if (!context || !ibv_alloc_pd(context)) fail_with(errno, "a neighbour");
  if (write(ready, "", 1) != 1) fail_with(errno, "write");
  for (;;) pause();
}

void neighbours_start(uint32_t count) {
  int ready[2];
  if (pipe(ready) != 0) fail_with(errno, "pipe");
  const pid_t measured = getpid();
  for (uint32_t i = 0; i < count; ++i) {
    const pid_t neighbour = fork();
    if (neighbour < 0) fail_with(errno, "fork");
    if (neighbour != 0) continue;
    signal(SIGCHLD, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != measured) exit(1);  // it ended before the line above
    be_neighbour(ready[1]);
  }
  close(ready[1]);
  for (uint32_t i = 0; i < count; ++i) {
    char byte;
    if (read(ready[0], &byte, 1) != 1) fail("a neighbour has ended");
  }
  close(ready[0]);
}
