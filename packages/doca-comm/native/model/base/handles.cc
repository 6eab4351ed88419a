#include "model/base/handles.h"

#include <pthread.h>

#include <atomic>

namespace verbs::doca_comm::model {

namespace {

constinit std::atomic<std::uint32_t> generation{0};

// When the library is loaded: under no lock, and before any fork of a program that uses it.
[[gnu::constructor]] void register_generation() {
  pthread_atfork(nullptr, nullptr, [] { ++generation; });
}

}  // namespace

std::uint32_t process_generation() { return generation.load(std::memory_order_relaxed); }

}  // namespace verbs::doca_comm::model
