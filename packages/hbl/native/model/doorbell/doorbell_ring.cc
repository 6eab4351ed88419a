#include "model/doorbell/doorbell_ring.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace verbs::hbl::model {

void DoorbellRing::store(std::uint32_t offset, unsigned width, std::uint64_t value) {
  while (busy_.test_and_set(std::memory_order_acquire)) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  if (offset == 0 && width == 8) {
    push(value);
  } else if (offset == 0) {
    low_half_ = static_cast<std::uint32_t>(value);
  } else if (offset == 4 && width == 4) {
    push(value << 32 | low_half_);
  }
  busy_.clear(std::memory_order_release);
  waker_.wake();
}

void DoorbellRing::push(std::uint64_t doorbell) {
  const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
  if (tail - released_.load(std::memory_order_acquire) == kEntries) {
    overrun_.store(true);
    return;
  }
  slots_[tail % kEntries] = doorbell;
  tail_.store(tail + 1, std::memory_order_seq_cst);
}

std::uint32_t DoorbellRing::pop() {
  ++head_;
  released_.store(head_, std::memory_order_release);
  return head_ % kEntries;
}

Waker::Waker() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Waker::~Waker() {
  if (fd_ >= 0) close(fd_);
}

void Waker::signal() {
  const int saved = errno;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);
  errno = saved;
}

void Waker::wait(int milliseconds) {
  pollfd entry{fd_, POLLIN, 0};
  if (poll(&entry, 1, milliseconds) <= 0) return;
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(fd_, &count, sizeof count);
}

}  // namespace verbs::hbl::model
