// Tells JavaScript's thread that descriptors are readable, in a host whose loop is not libuv's: a thread with epoll,
// and a thread-safe function.
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <system_error>
#include <thread>

#include "provider/napi_setup.h"

namespace verbs::provider {

// One for each environment that waits. All of it but the thread itself belongs to JavaScript's thread.
class ReadinessThread : public std::enable_shared_from_this<ReadinessThread> {
 public:
  // Called on JavaScript's thread.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_readable() = 0;
    // After it, unless on_readable() removed the listener: to be armed again, if it still listens.
    virtual void on_done() = 0;
  };

  // Null with an errno in `error` if the system has no thread or descriptor left. It lives until stop().
  static std::shared_ptr<ReadinessThread> start(napi_env env, int* error) {
    auto thread = std::shared_ptr<ReadinessThread>(new ReadinessThread);
    *error = thread->set_up(env);
    if (*error == 0) return thread;
    thread->stop();
    return nullptr;
  }
  ReadinessThread(const ReadinessThread&) = delete;
  ReadinessThread& operator=(const ReadinessThread&) = delete;

  // A number for the descriptor, which is not watched before arm(); 0 with an errno in `error`. One that epoll does not
  // take (a file, a closed one) is EPERM or EBADF.
  std::uint64_t add(int fd, Listener& listener, int* error) {
    const std::uint64_t number = ++last_;
    *error = control(EPOLL_CTL_ADD, fd, number, 0);
    if (*error != 0) return 0;
    listeners_[number] = &listener;
    return number;
  }
  // The listener is called once when the descriptor is readable; then it is to be armed again. 0 or an errno.
  int arm(int fd, std::uint64_t number) { return control(EPOLL_CTL_MOD, fd, number, EPOLLIN | EPOLLONESHOT); }
  void disarm(int fd, std::uint64_t number) { (void)control(EPOLL_CTL_MOD, fd, number, 0); }
  void remove(int fd, std::uint64_t number) {
    (void)control(EPOLL_CTL_DEL, fd, number, 0);
    listeners_.erase(number);
  }

  // As often as they are waited for, descriptors keep the program alive.
  void ref(napi_env env) {
    if (refs_++ == 0) (void)napi_ref_threadsafe_function(env, function_);
  }
  void unref(napi_env env) {
    if (--refs_ == 0) (void)napi_unref_threadsafe_function(env, function_);
  }

  void stop() {
    if (epoll_ < 0) return;
    // The other end is readable from now on.
    if (wake_[1] >= 0) close(wake_[1]);
    if (thread_.joinable()) thread_.join();
    if (wake_[0] >= 0) close(wake_[0]);
    close(epoll_);
    epoll_ = -1;
    listeners_.clear();
    if (function_ != nullptr) (void)napi_release_threadsafe_function(function_, napi_tsfn_abort);
    function_ = nullptr;
  }

 private:
  ReadinessThread() = default;

  int set_up(napi_env env) {
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0 || pipe2(wake_.data(), O_CLOEXEC) != 0) return errno;
    if (const int error = control(EPOLL_CTL_ADD, wake_[0], 0, EPOLLIN); error != 0) return error;
    const napi_value name = Napi::String::New(env, "verbs.Readiness");
    // Calls may wait in its queue: it owns this object until it has dropped them.
    auto owner = std::make_unique<std::shared_ptr<ReadinessThread>>(shared_from_this());
    const auto finalized = [](napi_env, void* held, void*) {
      delete static_cast<std::shared_ptr<ReadinessThread>*>(held);
    };
    if (napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, owner.get(), finalized, this, called,
                                        &function_) != napi_ok) {
      throw Napi::Error::New(env);
    }
    (void)owner.release();
    (void)napi_unref_threadsafe_function(env, function_);
    // The program's handlers are for its own threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      return error.code().value();
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return 0;
  }

  int control(int operation, int fd, std::uint64_t number, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = number;
    return epoll_ctl(epoll_, operation, fd, &event) == 0 ? 0 : errno;
  }

  void run() {
    std::array<epoll_event, 16> events{};
    for (;;) {
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; i++) {
        const std::uint64_t number = events[static_cast<std::size_t>(i)].data.u64;
        if (number == 0) return;
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        void* data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(number));
        if (napi_call_threadsafe_function(function_, data, napi_tsfn_nonblocking) != napi_ok) return;
      }
    }
  }

  static void called(napi_env env, napi_value, void* context, void* data) {
    if (env == nullptr) return;  // the environment ends
    auto* self = static_cast<ReadinessThread*>(context);
    const auto number = reinterpret_cast<std::uintptr_t>(data);
    // It may be gone since the thread saw it, and after its callback.
    if (const auto found = self->listeners_.find(number); found != self->listeners_.end()) found->second->on_readable();
    if (const auto found = self->listeners_.find(number); found != self->listeners_.end()) found->second->on_done();
  }

  int epoll_ = -1;
  std::array<int, 2> wake_{-1, -1};
  std::thread thread_;
  napi_threadsafe_function function_ = nullptr;
  std::uint64_t last_ = 0;
  std::size_t refs_ = 0;
  std::map<std::uint64_t, Listener*> listeners_;
};

}  // namespace verbs::provider
