#include "model/comch/fast_path.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "model/base/error.h"
#include "model/engine/engine.h"
#include "model/nic/verbs.h"

namespace verbs::doca_comm::model::comch {

FastPath::~FastPath() {
  close_queue();
  if (held_) Bluefield::get().release(dev_);
}

doca_error_t FastPath::open_queue(std::uint32_t tasks) {
  if (const int error = events_.open_in(engine()->fd(), dev_->context)) {
    return error_of(error, DOCA_ERROR_INITIALIZATION);
  }
  queues_.open(dev_->context, events_.completion_channel());
  cq_ = queues_.reserve(static_cast<int>(tasks) + 1);
  if (!cq_) return error_of(errno, DOCA_ERROR_INITIALIZATION);
  header_bytes_ = tasks * sizeof(FastHeader);
  void* memory = mmap(nullptr, header_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return DOCA_ERROR_NO_MEMORY;
  headers_ = static_cast<FastHeader*>(memory);
  region_ = Verbs::get()->reg_mr(dev_->pd, memory, header_bytes_, IBV_ACCESS_LOCAL_WRITE);
  if (!region_) return error_of(errno, DOCA_ERROR_INITIALIZATION);
  Verbs::get()->keep_mapped(region_);
  return DOCA_SUCCESS;
}

// After the queue pairs.
void FastPath::close_queue() {
  const std::lock_guard guard(link_->mutex);
  armed_ = false;
  batch_size_ = batch_next_ = 0;
  if (region_) Verbs::get()->dereg_mr(std::exchange(region_, nullptr));
  if (headers_) munmap(std::exchange(headers_, nullptr), header_bytes_);
  cq_ = nullptr;
  queues_.close();
  events_.close();
}

ibv_sge FastPath::header_sge(std::size_t index) const {
  return {reinterpret_cast<std::uintptr_t>(header(index)), sizeof(FastHeader), region_->lkey};
}

bool FastPath::fetch() {
  if (batch_next_ < batch_size_) return true;
  batch_next_ = 0;
  batch_size_ = std::max(0, queues_.poll(batch_, 16));
  return batch_size_ > 0;
}

void FastPath::end() {
  ended_ = true;
  notify();
}

void FastPath::notify() {
  if (armed_) events_.signal();
  armed_ = false;
}

void FastPath::arm() {
  const std::lock_guard guard(link_->mutex);
  events_.clear();
  queues_.drain_events();
  queues_.arm();
  armed_ = true;
  if (fetch() || !done_.empty() || ended_ || state() == DOCA_CTX_STATE_STOPPING || has_step()) notify();
}

void FastPath::disarm() {
  const std::lock_guard guard(link_->mutex);
  armed_ = false;
  events_.clear();
  queues_.drain_events();
}

}  // namespace verbs::doca_comm::model::comch
