#include "model/memory/buffers.h"

#include <utility>

#include "model/base/error.h"
#include "model/nic/faults.h"

namespace verbs::doca_comm::model {

namespace {

constexpr std::size_t kMostElements = std::size_t{1} << 24;

}  // namespace

void release(doca_buf& buf) {
  if (--buf.references > 0) return;
  for (doca_buf* each = &buf; each;) {
    doca_buf* next = std::exchange(each->next, nullptr);
    each->source->give(*each);
    each = next;
  }
}

doca_error_t BufferSource::check(std::size_t elements) {
  if (elements == 0) return DOCA_ERROR_INVALID_VALUE;
  if (const int error = Faults::get().next(Fault::kAllocate)) return error_of(error, DOCA_ERROR_NO_MEMORY);
  return elements > kMostElements ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS;
}

BufferSource::BufferSource(std::size_t elements) : block_(Slab<doca_buf>::take(elements)), count_(elements) {
  for (std::size_t i = elements; i-- > 0;) {
    doca_buf& buf = block_[i];
    buf.magic = doca_buf::kAlive;
    buf.generation = process_generation();
    buf.source = this;
    buf.references = 0;
    buf.next = free_;
    free_ = &buf;
  }
  free_count_ = elements;
}

BufferSource::~BufferSource() {
  for (std::size_t i = 0; i < count_; ++i) block_[i].magic = 0;
  Slab<doca_buf>::give(block_, count_);
}

doca_buf* BufferSource::take(std::shared_ptr<Mmap> mmap, void* head, std::size_t length, void* data,
                             std::size_t data_length) {
  if (!free_) return nullptr;
  doca_buf* buf = std::exchange(free_, free_->next);
  --free_count_;
  ++mmap->buffers;
  buf->references = 1;
  buf->mmap = std::move(mmap);
  buf->head = static_cast<std::uint8_t*>(head);
  buf->length = length;
  buf->data = static_cast<std::uint8_t*>(data);
  buf->data_length = data_length;
  buf->next = buf->first = nullptr;
  return buf;
}

doca_buf* BufferSource::take_element() {
  if (!free_) return nullptr;
  auto* at = static_cast<std::uint8_t*>(memory->address()) + index_of(*free_) * stride();
  return take(memory, at, element_size, at, 0);
}

void BufferSource::give(doca_buf& buf) {
  --buf.mmap->buffers;
  buf.mmap.reset();
  buf.references = 0;
  buf.first = nullptr;
  buf.next = std::exchange(free_, &buf);
  ++free_count_;
}

}  // namespace verbs::doca_comm::model
