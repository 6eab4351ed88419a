// Threads of the software NIC and of its models.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace verbs::soft::model {

// The signals that the kernel raises for an instruction of the thread itself. A fault whose signal is blocked ends the
// process, whatever its handlers could have done.
inline bool is_fault(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP ||
         signal == SIGSYS || signal == SIGABRT;
}

inline sigset_t all_but_faults() {
  sigset_t set;
  sigfillset(&set);
  for (int signal = 1; signal < NSIG; ++signal) {
    if (is_fault(signal)) sigdelset(&set, signal);
  }
  return set;
}

// While an object exists, the threads that this thread starts take none of the program's signals, which are for the
// program's threads, but those of faults.
class WorkerSignals {
 public:
  WorkerSignals() {
    const sigset_t workers = all_but_faults();
    pthread_sigmask(SIG_SETMASK, &workers, &old_);
  }
  ~WorkerSignals() { pthread_sigmask(SIG_SETMASK, &old_, nullptr); }
  WorkerSignals(const WorkerSignals&) = delete;
  WorkerSignals& operator=(const WorkerSignals&) = delete;

 private:
  sigset_t old_;
};

}  // namespace verbs::soft::model
