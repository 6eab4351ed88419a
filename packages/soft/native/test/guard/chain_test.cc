// A fault that is not ours reaches the program's handlers exactly once, in whatever order they were installed, or ends
// the process by its signal.
#include "guard/fault_handler.h"
#include "test/guard/fault_child.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

struct sigaction first_old, second_old;

void first_reporter(int signal, siginfo_t* info, void* context) {
  ++seen()->first;
  chain(first_old, signal, info, context);
}
void second_reporter(int signal, siginfo_t* info, void* context) {
  ++seen()->second;
  chain(second_old, signal, info, context);
}
void last_word(int, siginfo_t*, void*) {
  ++seen()->third;
  _exit(7);
}
void simple(int) {
  ++seen()->third;
  _exit(8);
}
void mend(int, siginfo_t* info, void*) {
  ++seen()->first;
  mprotect(info->si_addr, 4096, PROT_READ | PROT_WRITE);
}

void install_first() { first_old = install(SIGSEGV, first_reporter); }
void install_second() { second_old = install(SIGSEGV, second_reporter); }

constexpr int kExit7 = 1007;

}  // namespace

TEST_CASE("without another handler a fault ends the process by its signal") {
  CHECK(ended_by([] {
          guard::put_in_front();
          if (!guard_holds()) _exit(1);
          fault_elsewhere();
        }) == SIGSEGV);
  CHECK(ended_by([] {
          guard::put_in_front();
          kill(getpid(), SIGBUS);
        }) == SIGBUS);
  // A fault of an ignored signal is one all the same; a signal that was sent is not.
  CHECK(ended_by([] {
          signal(SIGSEGV, SIG_IGN);
          guard::put_in_front();
          kill(getpid(), SIGSEGV);
          if (!guard_holds()) _exit(1);
          fault_elsewhere();
        }) == SIGSEGV);
}

TEST_CASE("a handler from before is called once, with what follows it") {
  CHECK(ended_by([] {
          install(SIGSEGV, last_word);
          guard::put_in_front();
          if (!guard_holds()) _exit(1);
          fault_elsewhere();
        }) == kExit7);
  CHECK(seen()->third == 1);
  CHECK(ended_by([] {
          signal(SIGSEGV, simple);
          guard::put_in_front();
          fault_elsewhere();
        }) == 1008);
  CHECK(ended_by([] {
          install_first();
          guard::put_in_front();
          fault_elsewhere();
        }) == SIGSEGV);
  CHECK(seen()->first == 1);
}

TEST_CASE("a handler that mends the fault lets the program go on") {
  CHECK(ended_by([] {
          install(SIGSEGV, mend);
          guard::put_in_front();
          fault_elsewhere();
          if (*hole() != 1) _exit(1);
        }) == 1000);
  CHECK(seen()->first == 1);
}

TEST_CASE("a later handler that chains to ours is called once") {
  SUBCASE("as it is") {
    CHECK(ended_by([] {
            install(SIGSEGV, last_word);
            guard::put_in_front();
            install_first();
            if (!guard_holds()) _exit(1);
            seen()->first = 0;  // it was in front of the guarded access
            fault_elsewhere();
          }) == kExit7);
  }
  SUBCASE("with ours in front of it again") {
    CHECK(ended_by([] {
            install(SIGSEGV, last_word);
            guard::put_in_front();
            install_first();
            guard::put_in_front();
            if (!guard_holds() || seen()->first != 0) _exit(1);
            fault_elsewhere();
          }) == kExit7);
  }
  CHECK(seen()->first == 1);
  CHECK(seen()->third == 1);
}

TEST_CASE("handlers that take each other as the previous one come to an end") {
  SUBCASE("one that installs itself twice") {
    CHECK(ended_by([] {
            guard::put_in_front();
            install_first();
            guard::put_in_front();
            install_first();  // its previous handler is ours now, and ours has it as the next one
            guard::put_in_front();
            fault_elsewhere();
          }) == SIGSEGV);
    CHECK(seen()->first == 1);
  }
  SUBCASE("two in turn") {
    CHECK(ended_by([] {
            for (int i = 0; i < 50; ++i) {
              install_first();
              guard::put_in_front();
              install_second();
              guard::put_in_front();
            }
            if (!guard_holds() || seen()->first + seen()->second != 0) _exit(1);
            fault_elsewhere();
          }) == SIGSEGV);
    CHECK(seen()->first == 1);
    CHECK(seen()->second == 1);
  }
}

TEST_CASE("a later handler that does not chain stays behind ours") {
  CHECK(ended_by([] {
          guard::put_in_front();
          install(SIGSEGV, last_word);
          guard::put_in_front();
          for (int i = 0; i < 100; ++i) {
            if (!guard_holds()) _exit(1);
          }
          fault_elsewhere();
        }) == kExit7);
  CHECK(seen()->third == 1);
}

TEST_CASE("a handler that the program has taken away is not called any more") {
  CHECK(ended_by([] {
          install(SIGSEGV, last_word);
          guard::put_in_front();
          install_first();
          guard::put_in_front();
          sigaction(SIGSEGV, &first_old, nullptr);
          guard::put_in_front();
          if (!guard_holds()) _exit(1);
          fault_elsewhere();
        }) == kExit7);
  CHECK(seen()->first == 0);
}

TEST_CASE("more handlers than there are levels") {
  CHECK(ended_by([] {
          for (int i = 0; i < 100; ++i) {
            struct sigaction action{};
            action.sa_sigaction = last_word;
            action.sa_flags = SA_SIGINFO;
            if ((i & 1) != 0) action.sa_flags |= SA_NODEFER;
            if ((i & 2) != 0) action.sa_flags |= SA_RESTART;
            for (int bit = 0; bit < 5; ++bit) {
              if ((i >> (bit + 2) & 1) != 0) sigaddset(&action.sa_mask, SIGRTMIN + bit);
            }
            sigaction(SIGSEGV, &action, nullptr);
            guard::put_in_front();
            if (!guard_holds()) _exit(1);
          }
          fault_elsewhere();
        }) == kExit7);
  CHECK(seen()->third == 1);
}
