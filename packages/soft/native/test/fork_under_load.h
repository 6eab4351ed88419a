// Forks while threads of the process use a library of ours. Also for the tests of the models.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>
#include <thread>

namespace verbs::soft::test {

// Children that are not waited for yet: the next fork does not wait for the processor that the last child needs.
constexpr int kChildrenAtOnce = 8;

// Waits for a child, and ends the process if that one was not right.
inline void wait_for_child() {
  int status = 0;
  if (wait(&status) < 0 || status != 0) _exit(4);
}

// Runs each of `churns` in a thread, again and again, and forks `forks` times meanwhile. Most children start another
// program; every 50th calls `in_child`, which says whether the library works there. In a process of its own, which a
// deadlock ends: a fork that takes two minutes. How long all of them take depends on the machine and on sanitizers. The
// exit status: 0 is right.
inline int fork_under_load(int forks, std::initializer_list<void (*)()> churns, bool (*in_child)()) {
  const pid_t parent = fork();
  if (parent != 0) {
    int status = -1;
    return parent > 0 && waitpid(parent, &status, 0) == parent ? status : -1;
  }
  for (auto* churn : churns) {
    std::thread([churn] {
      for (;;) churn();
    }).detach();
  }
  for (int i = 0; i < forks; ++i) {
    alarm(120);
    if (i >= kChildrenAtOnce) wait_for_child();
    const pid_t pid = fork();
    if (pid < 0) _exit(3);
    if (pid == 0) {
      alarm(60);
      if (i % 50 == 0) _exit(in_child() ? 0 : 1);
      execl("/bin/true", "true", nullptr);
      _exit(2);
    }
  }
  for (int i = 0; i < kChildrenAtOnce && i < forks; ++i) wait_for_child();
  _exit(0);
}

}  // namespace verbs::soft::test
