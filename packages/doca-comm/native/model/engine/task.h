// Tasks: what a program submits to a context, and gets back in a callback.
#pragma once

#include <cstddef>
#include <cstdint>

#include "doca_error.h"
#include "doca_types.h"
#include "model/base/handles.h"
#include "model/engine/slab.h"

namespace verbs::doca_comm::model {
class Context;
}

struct doca_task {
  enum class Owner : std::uint8_t { kNobody, kProgram, kLibrary };
  static constexpr std::uint64_t kAlive = 0x646f63612d746b21ull;

  std::uint64_t magic = 0;
  std::uint32_t generation = 0;  // of the process
  Owner owner = Owner::kNobody;
  std::uint8_t kind = 0;  // T::kKind of the task's type T
  doca_error_t status = DOCA_SUCCESS;
  verbs::doca_comm::model::Context* context = nullptr;
  doca_data user_data{};
  doca_task* next = nullptr;  // in the list that it is in
};

namespace verbs::doca_comm::model {

// nullptr if it is no task of this process that a program has. A stale pointer is recognised; any other pointer is
// read.
inline doca_task* find_task(doca_task* task) {
  const bool known = task && task->magic == doca_task::kAlive && task->generation == process_generation() &&
                     task->owner != doca_task::Owner::kNobody;
  return known ? task : nullptr;
}
inline const doca_task* find_task(const doca_task* task) { return find_task(const_cast<doca_task*>(task)); }

// The same for a task of one type: any other is none.
template <typename T>
T* find_task_of(T* task) {
  return find_task(task) && task->kind == T::kKind ? task : nullptr;
}

// Tasks in the order of their submission.
class TaskList {
 public:
  bool empty() const { return first_ == nullptr; }
  doca_task* first() const { return first_; }
  void push(doca_task* task) {
    task->next = nullptr;
    (first_ ? last_->next : first_) = task;
    last_ = task;
    ++count_;
  }
  doca_task* pop() {
    doca_task* task = first_;
    first_ = task->next;
    --count_;
    return task;
  }
  std::size_t count() const { return count_; }

 private:
  doca_task* first_ = nullptr;
  doca_task* last_ = nullptr;
  std::size_t count_ = 0;
};

// The tasks of a context, of type T, which derives from doca_task.
template <typename T>
class TaskPool {
 public:
  ~TaskPool() { close(); }
  void open(Context* context, std::uint32_t count) {
    block_ = Slab<T>::take(count);
    count_ = count;
    free_ = {};
    for (std::uint32_t i = 0; i < count; ++i) {
      block_[i].magic = doca_task::kAlive;
      block_[i].generation = process_generation();
      block_[i].kind = T::kKind;
      block_[i].context = context;
      free_.push(&block_[i]);
    }
  }
  // All tasks are free.
  void close() {
    if (!block_) return;
    for (std::uint32_t i = 0; i < count_; ++i) block_[i].magic = 0;
    Slab<T>::give(block_, count_);
    block_ = nullptr;
    count_ = 0;
    free_ = {};
  }
  T* at(std::size_t index) const { return block_ + index; }
  std::size_t index_of(const T& task) const { return static_cast<std::size_t>(&task - block_); }
  std::size_t taken() const { return count_ - free_.count(); }
  // nullptr if all are in use.
  T* take() {
    if (free_.empty()) return nullptr;
    auto* task = static_cast<T*>(free_.pop());
    task->owner = doca_task::Owner::kProgram;
    task->status = DOCA_SUCCESS;
    task->user_data.u64 = 0;
    return task;
  }
  void give(doca_task* task) {
    task->owner = doca_task::Owner::kNobody;
    free_.push(task);
  }

 private:
  T* block_ = nullptr;
  std::uint32_t count_ = 0;
  TaskList free_;
};

}  // namespace verbs::doca_comm::model
