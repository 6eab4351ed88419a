// What a producer and a consumer have in common: a context of its own, with completion queue, descriptor and the memory
// of the headers, on a connection of a control path that another thread may drive.
//
// A message of the fast path is one RC send: a header of fixed size, and behind it the data, from the producer's buffer
// into the consumer's.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "doca_buf.h"
#include "model/base/boundary.h"
#include "model/bluefield/device.h"
#include "model/channel/completion_queues.h"
#include "model/channel/event_channel.h"
#include "model/comch/link.h"
#include "model/engine/context.h"
#include "model/memory/buffers.h"

namespace verbs::doca_comm::model::comch {

inline constexpr std::uint32_t kMaxFastTasks = 8192;
inline constexpr std::uint32_t kMaxBufferSize = 1u << 30;
inline constexpr std::uint32_t kMaxImmediate = 32;

struct FastHeader {
  std::uint32_t producer;
  std::uint32_t immediate_length;
  std::uint32_t length;
  std::uint32_t reserved;
  std::uint8_t immediate[kMaxImmediate];
};

class FastPath : public Context {
 public:
  ~FastPath() override;

  std::uint32_t id() const { return id_; }
  // The connection has ended. Under the link's mutex, as all that the handshakes' thread calls.
  void end();

  void arm() override;
  void disarm() override;

 protected:
  FastPath(std::shared_ptr<Link> link, doca_dev* dev, std::uint32_t id) : link_(std::move(link)), dev_(dev), id_(id) {}
  // Holds the device, until the destructor. False if it is not open.
  bool hold() { return held_ = Bluefield::get().hold(dev_); }

  // The completion queue and the headers of that many tasks.
  doca_error_t open_queue(std::uint32_t tasks);
  void close_queue();
  FastHeader* header(std::size_t index) const { return headers_ + index; }
  ibv_sge header_sge(std::size_t index) const;
  bool fetch();
  // Makes the descriptor readable if it is armed. Under the mutex.
  void notify();
  // Under the mutex: whether progress() has something to do besides completions.
  virtual bool has_step() const = 0;
  void done(doca_task* task, doca_error_t status) {
    task->status = status;
    done_.push(task);
  }

  const std::shared_ptr<Link> link_;
  doca_dev* const dev_;
  const std::uint32_t id_;
  CompletionQueues queues_;
  ibv_cq* cq_ = nullptr;
  ibv_wc batch_[16];
  int batch_size_ = 0;
  int batch_next_ = 0;
  TaskList done_;
  std::atomic<bool> ended_{false};

 private:
  EventChannel events_;
  bool armed_ = false;
  bool held_ = false;
  FastHeader* headers_ = nullptr;
  std::size_t header_bytes_ = 0;
  ibv_mr* region_ = nullptr;
};

// A path with tasks of one type, and with what the program gave for them.
template <typename Task, typename Callback>
class TaskPath : public FastPath {
 public:
  doca_error_t configure(Callback completed, Callback failed, std::uint32_t tasks) {
    if (!completed || !failed || tasks == 0 || tasks > kMaxFastTasks) return DOCA_ERROR_INVALID_VALUE;
    if (!idle()) return DOCA_ERROR_BAD_STATE;
    completed_ = completed;
    failed_ = failed;
    task_count_ = tasks;
    return DOCA_SUCCESS;
  }
  void free(doca_task& task) final { tasks_.give(&task); }

 protected:
  using FastPath::FastPath;

  // Sets up what shut() takes back. It may throw, and may fail half-way.
  virtual doca_error_t open_all() = 0;
  virtual void shut() = 0;

  doca_error_t open() final {
    if (task_count_ == 0) return DOCA_ERROR_BAD_STATE;
    const doca_error_t error = contained([this] { return open_all(); });
    if (error != DOCA_SUCCESS) shut();
    return error;
  }

  bool finish_close() final {
    if (!done_.empty() || tasks_.taken() > 0) return false;
    shut();
    return true;
  }

  // Gives the tasks that are done back to the program. Whether there were any.
  bool run_done() {
    const std::size_t count = done_.count();
    for (std::size_t i = 0; i < count; ++i) {
      auto* task = static_cast<Task*>(done_.pop());
      task->owner = doca_task::Owner::kProgram;
      --in_flight_;
      if (task->buf) release(const_cast<doca_buf&>(*task->buf));
      (task->status == DOCA_SUCCESS ? completed_ : failed_)(task, task->user_data, user_data());
    }
    return count > 0;
  }

  TaskPool<Task> tasks_;
  std::uint32_t task_count_ = 0;

 private:
  Callback completed_ = nullptr;
  Callback failed_ = nullptr;
};

}  // namespace verbs::doca_comm::model::comch
