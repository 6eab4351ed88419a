#include "peer.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fail.h"

static pid_t server;

// A client that spins for a reply would spin for ever after the server has failed. The server has printed the reason.
static void on_child(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)context;
  if (info->si_code != CLD_EXITED || info->si_status != 0) _exit(1);
}

// The `nth` of the processors that this process may use.
static void pin(int nth) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || nth-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

void peer_start(struct peer* peer) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) fail_with(errno, "socketpair");
  const pid_t client = getpid();
  struct sigaction watch = {.sa_sigaction = on_child, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGCHLD, &watch, NULL);
  server = fork();
  if (server < 0) fail_with(errno, "fork");
  peer->is_server = server == 0;
  if (peer->is_server) {
    signal(SIGCHLD, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != client) exit(1);  // it ended before the line above
    const char* configuration = getenv("VERBS_SOFT_OF_SERVER");
    if (configuration) setenv("VERBS_SOFT", configuration, 1);
  }
  peer->channel = ends[peer->is_server];
  close(ends[!peer->is_server]);
  pin(peer->is_server);
}

void peer_swap(const struct peer* peer, const void* mine, void* theirs, size_t size) {
  if (send(peer->channel, mine, size, MSG_NOSIGNAL) != (ssize_t)size) fail("the other process has gone");
  if (recv(peer->channel, theirs, size, 0) != (ssize_t)size) fail("the other process has gone");
}

void peer_meet(const struct peer* peer) {
  char theirs;
  peer_swap(peer, "", &theirs, 1);
}

void peer_finish(const struct peer* peer) {
  if (peer->is_server) exit(0);
  int status;
  while (waitpid(server, &status, 0) < 0 && errno == EINTR) continue;
  exit(WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1);
}
