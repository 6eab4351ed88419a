// Injected failures: the nth call of a kind fails, so that tests reach errors that are hard to provoke.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace verbs::doca_comm::model {

enum class Fault : std::uint8_t {
  kAllocate,
  kDescriptor,
  kOpenDevice,
  kQueryDevice,
  kRegisterMemory,
  kCreateQueue,
  kModifyQueue,
  kDestroyQueue,
  kPostSend,
  kPostReceive,
  kPoll,
  kRegistry,
};

class Faults {
 public:
  static Faults& get();

  // "KIND:NTH[:ERRNO]" joined by '+', for example "create_queue:2:ENOMEM+post_send:1": the nth call of that kind from
  // now on fails, once. Empty or nullptr removes the plan. 0, or EINVAL for an invalid plan.
  int set(const char* plan);

  // For forks.
  static std::mutex& lock() { return get().mutex_; }

  // The errno with which this call fails, or 0.
  int next(Fault kind) { return active_.load(std::memory_order_relaxed) ? count(kind) : 0; }

 private:
  struct Rule {
    Fault kind;
    std::uint64_t left;
    int error;
  };
  static int parse(const std::string& text, Rule* rule);
  int count(Fault kind);

  std::atomic<bool> active_{false};
  std::mutex mutex_;
  std::vector<Rule> rules_;
};

}  // namespace verbs::doca_comm::model
