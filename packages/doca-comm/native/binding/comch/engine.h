// A progress engine (doca_pe) and the contexts that it drives, of one thread.
#pragma once

#include <chrono>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "binding/handle.h"
#include "provider/descriptor_watcher.h"

namespace verbs::doca_comm::binding {

class Context;
struct Connection;

// An engine without a handle in JavaScript lives until its contexts are gone, since a context is destroyed when it is
// idle, which takes progress: the other engines of the thread see to that.
class Engine final : public provider::LoopUser, public std::enable_shared_from_this<Engine> {
 public:
  // Null with the error.
  static std::shared_ptr<Engine> create(const Library& library, std::shared_ptr<provider::Environment> environment,
                                        doca_error_t* error);
  ~Engine() override { leave_loop(nullptr); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const Library& library() const { return library_; }
  const EngineFunctions& functions() const { return *library_.engine(); }
  // Null once it is closed.
  doca_pe* get() const { return pe_; }

  // Calls doca_pe_progress until nothing happens, up to `times` times, or until more than so many bytes of events wait
  // for JavaScript. How often something happened.
  std::uint32_t progress(std::uint32_t times, std::size_t backlog);
  std::size_t backlog() const { return backlog_; }
  // Contexts with events since the last call, into `ids`; the others stay for the next call.
  std::size_t take_ready(std::uint32_t* ids, std::size_t room);

  // doca_pe_destroy. IN_USE while it has contexts.
  doca_error_t close();
  // JavaScript has dropped it, or one of its contexts: what can be freed now, is.
  void orphan();
  void reap();

  // The engine owns its contexts. Their ids are not used again.
  std::uint32_t add(std::unique_ptr<Context> context);
  void forget(Context& context);
  void set_ready(Context& context);
  void add_backlog(std::ptrdiff_t bytes) { backlog_ += static_cast<std::size_t>(bytes); }

  // Connections of all contexts, by their numbers.
  std::unordered_map<std::uint32_t, Connection*>& connections() { return connections_; }
  std::uint32_t next_connection() { return next_connection_++; }

  // The engine in whose calls callbacks of C come now, on this thread.
  class Current {
   public:
    explicit Current(Engine& engine) : before_(std::exchange(slot(), &engine)) {}
    ~Current() { slot() = before_; }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    static Engine* get() { return slot(); }

   private:
    static Engine*& slot() {
      static thread_local Engine* engine = nullptr;
      return engine;
    }

    Engine* const before_;
  };

  doca_error_t watch(napi_value callback);
  doca_error_t arm();    // doca_pe_request_notification
  doca_error_t clear();  // doca_pe_clear_notification
  void hold(bool held) { watcher_.set_ref(held); }
  void rest() { watcher_.stop(); }
  // Blocks until the descriptor is readable, for so many milliseconds at most.
  bool wait(int milliseconds) const;

  // The environment ends. Blocks until every context is idle, for so long at most.
  static constexpr std::chrono::milliseconds kFarewell{1500};
  void leave_loop(const std::shared_ptr<void>& done) override;

 private:
  Engine(const Library& library, std::shared_ptr<provider::Environment> environment)
      : library_(library), environment_(std::move(environment)) {}
  // The engines of this thread.
  static std::vector<std::shared_ptr<Engine>>& engines();
  static void progress_orphans();

  const Library& library_;
  std::shared_ptr<provider::Environment> environment_;
  std::size_t backlog_ = 0;  // bytes of events
  doca_pe* pe_ = nullptr;
  int fd_ = -1;
  provider::DescriptorWatcher watcher_;
  bool progressing_ = false;
  bool orphan_ = false;
  std::uint32_t next_id_ = 1;
  std::uint32_t next_connection_ = 1;
  std::unordered_map<std::uint32_t, Connection*> connections_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Context>> contexts_;
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> abandoned_;

  friend class Context;
};

}  // namespace verbs::doca_comm::binding
