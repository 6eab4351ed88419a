// The handlers that were found installed, for one signal. Each time that the fault handler is put in front of another
// one it takes the next level, which remembers that one. A fault goes to the handler of its level. If that handler
// chains to a level of ours the fault goes to that level's; no level passes the same fault on twice, so that handlers
// which take each other as the previous one come to an end.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <atomic>

namespace verbs::soft::guard {

using FaultHandler = void(int, siginfo_t*, void*);

// Neither SIG_DFL nor SIG_IGN.
bool has_handler(const struct sigaction& action);

class HandlerChain {
 public:
  static constexpr unsigned kLevels = 16;

  // A level whose next handler is `found`: the one that has it, or a new one. Without a free one the last is reused;
  // kLevels without memory.
  unsigned level_before(const struct sigaction& found);

  // Calls the next handler of `level`, under the mask that the kernel would have given it. Without one the process ends
  // as it would have ended without a handler.
  void pass_on(unsigned level, int signal, siginfo_t* info, const ucontext_t* context);

 private:
  // Each points to a copy that is never freed, since a handler may be reading it.
  std::atomic<const struct sigaction*> next_[kLevels] = {};
};

}  // namespace verbs::soft::guard
