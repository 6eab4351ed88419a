// A program that calls Comch at random, right and wrong: both ends, their producers and consumers, on two engines, also
// from inside the callbacks. It keeps account of what a right library does with its tasks, messages and handles.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "test/support/fast_path.h"

namespace verbs::doca_comm::model::test {

enum class Kind : std::uint8_t {
  kServer,
  kClient,
  kConnection,
  kContext,
  kEngine,
  kConsumer,
  kProducer,
  kSendTask,
  kReceiveTask,
  kBulkTask,
  kBuffer,
  kMmap,
  kInventory
};
inline constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::kInventory) + 1;

// What random calls pass: a handle of the right kind, or one that is stale, of another kind, no handle at all, NULL.
class Handles {
 public:
  explicit Handles(std::mt19937& random) : random_(random) {}

  void add(Kind kind, void* handle) {
    for (auto& stale : stale_) std::erase(stale, handle);  // used again
    live(kind).push_back(handle);
  }
  void remove(Kind kind, void* handle) {
    std::erase(live(kind), handle);
    auto& stale = stale_[static_cast<std::size_t>(kind)];
    stale.push_back(handle);
    if (stale.size() > 32) stale.pop_front();
  }
  std::vector<void*>& live(Kind kind) { return live_[static_cast<std::size_t>(kind)]; }
  bool is_live(Kind kind, const void* handle) {
    return std::find(live(kind).begin(), live(kind).end(), handle) != live(kind).end();
  }

  void* any(Kind kind) {
    const std::size_t choice = random_() % 40;
    if (choice == 0) return nullptr;
    if (choice == 1) return garbage_.data();
    if (choice == 2) return one_of(live(static_cast<Kind>(random_() % kKinds)));
    if (choice == 3) return one_of(stale_[static_cast<std::size_t>(kind)]);
    if (choice == 4) {
      void* inside = one_of(live(kind));
      return inside ? static_cast<char*>(inside) + 8 : nullptr;
    }
    return one_of(live(kind));
  }

 private:
  template <typename List>
  void* one_of(const List& list) {
    return list.empty() ? nullptr : list[random_() % list.size()];
  }

  std::mt19937& random_;
  std::array<std::vector<void*>, kKinds> live_;
  std::array<std::deque<void*>, kKinds> stale_;
  alignas(16) std::array<std::uint64_t, 64> garbage_{};
};

// Any part of it tells its place in it, so that a received part can be checked alone.
inline constexpr std::size_t kPatternSize = 16384;
inline const std::vector<std::uint8_t>& pattern() {
  static const auto bytes = [] {
    std::vector<std::uint8_t> all(kPatternSize);
    for (std::size_t i = 0; i < all.size(); i += 2) {
      all[i] = static_cast<std::uint8_t>(i / 2);
      all[i + 1] = static_cast<std::uint8_t>(i / 2 >> 8);
    }
    return all;
  }();
  return bytes;
}
// An even place in it.
inline bool is_of_pattern(const std::uint8_t* data, std::size_t length) {
  if (length < 2) return true;
  const std::size_t at = 2 * (data[0] + 256u * data[1]);
  return at + length <= kPatternSize && std::equal(data, data + length, pattern().begin() + static_cast<long>(at));
}

class Chaos {
 public:
  Chaos(Devices& devices, unsigned seed);
  ~Chaos();
  Chaos(const Chaos&) = delete;
  Chaos& operator=(const Chaos&) = delete;

  // Connects a server and a client, mostly, so that the calls meet something.
  void begin();
  void step();
  // Everything stops and goes. All tasks have come back, and every message was right.
  void end();

  // Of the callbacks.
  static Chaos& current() { return *current_; }
  void on_state(doca_ctx* ctx, doca_ctx_states previous, doca_ctx_states next);
  void on_connection(doca_comch_connection* connection, bool here);
  void on_message(const std::uint8_t* data, std::uint32_t length);
  void on_task(Kind kind, doca_task* task, bool succeeded);
  void on_received(doca_comch_consumer_task_post_recv* task);
  void on_consumer(std::uint32_t id) { consumers_.push_back(id); }

 private:
  struct Task {
    Kind kind;
    bool submitted = false;
  };
  using Call = void (Chaos::*)();
  static const std::vector<Call>& calls();

  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <typename T>
  T* any(Kind kind) {
    return static_cast<T*>(handles_.any(kind));
  }
  std::uint32_t any_number();
  // A call that a wrong handle was given to has not succeeded.
  void check(doca_error_t result, Kind kind, const void* handle);
  void in_callback();

  // The calls.
  void progress();
  void create_server();
  void create_client();
  void destroy_end();
  void settings();
  void getters();
  void start();
  void stop();
  void connect_engine();
  void allocate_send();
  void submit();
  void free_task();
  void task_properties();
  void disconnect();
  void connection_calls();
  void notifications();
  void engine_calls();
  void context_calls();
  void create_consumer();
  void create_producer();
  void destroy_path();
  void path_calls();
  void post_receive();
  void send_bulk();
  void bulk_properties();
  void buffers();
  void memory_calls();

  void add_server(const char* name);
  void add_client(const char* name);
  void add_connection(doca_comch_connection* connection);
  void remove_connection(doca_comch_connection* connection);
  void add_context(doca_ctx* ctx);
  void retire_context(doca_ctx* ctx);
  void add_task(Kind kind, doca_task* task);
  void drop_task(doca_task* task);
  void get_buffer();
  void drive(int turns);

  static Chaos* current_;
  Devices& devices_;
  std::mt19937 random_;
  Handles handles_;
  std::array<doca_pe*, 2> engines_{};
  std::map<doca_task*, Task> tasks_;
  std::map<doca_ctx*, doca_ctx_states> contexts_;
  std::map<doca_comch_connection*, doca_ctx*> owners_;
  std::vector<std::uint32_t> consumers_;  // that the ends were told of
  std::vector<std::uint8_t> sources_, targets_;
  std::array<doca_mmap*, 2> mmaps_{};  // to receive into, to send from
  doca_buf_inventory* inventory_ = nullptr;
  int depth_ = 0;
  bool quiet_ = false;  // callbacks call nothing
};

}  // namespace verbs::doca_comm::model::test
