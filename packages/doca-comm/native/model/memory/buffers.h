// Buffers, and where they come from: an inventory, whose buffers are any part of any started memory, or a pool, whose
// buffers are equal parts of one. As documented, one thread at a time uses a source and its buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "doca_buf_inventory.h"
#include "doca_buf_pool.h"
#include "model/base/handles.h"
#include "model/engine/slab.h"
#include "model/memory/mmap.h"

namespace verbs::doca_comm::model {
class BufferSource;
}

struct doca_buf {
  static constexpr std::uint64_t kAlive = 0x646f63612d627566ull;

  std::uint64_t magic = 0;
  std::uint32_t generation = 0;  // of the process
  std::uint16_t references = 0;
  verbs::doca_comm::model::BufferSource* source = nullptr;
  std::shared_ptr<verbs::doca_comm::model::Mmap> mmap;
  std::uint8_t* head = nullptr;
  std::size_t length = 0;
  std::uint8_t* data = nullptr;
  std::size_t data_length = 0;
  doca_buf* next = nullptr;   // in the list, or among the free ones
  doca_buf* first = nullptr;  // the head of the list, for those behind it

  // Of a list, a task takes no part: devices take one buffer, and the end of the list gives all of them back.
  bool alone() const { return !next && !first; }
};

namespace verbs::doca_comm::model {

// nullptr unless it is a buffer of this process that a program has. Stale pointers are recognised.
inline doca_buf* find_buf(const doca_buf* buf) {
  const bool known = buf && buf->magic == doca_buf::kAlive && buf->generation == process_generation();
  return known && buf->references > 0 ? const_cast<doca_buf*>(buf) : nullptr;
}

// Releases one reference; the last one gives the buffer, and those behind it in its list, back.
void release(doca_buf& buf);

class BufferSource {
 public:
  // At least one element; NO_MEMORY by the fault plan.
  static doca_error_t check(std::size_t elements);
  explicit BufferSource(std::size_t elements);
  ~BufferSource();
  BufferSource(const BufferSource&) = delete;
  BufferSource& operator=(const BufferSource&) = delete;

  std::size_t elements() const { return count_; }
  std::size_t free_elements() const { return free_count_; }
  bool started() const { return started_; }
  void set_started(bool started) { started_ = started; }
  doca_data user_data{};

  // nullptr if there is none.
  doca_buf* take(std::shared_ptr<Mmap> mmap, void* head, std::size_t length, void* data, std::size_t data_length);
  void give(doca_buf& buf);
  // Of a buffer, in its source.
  std::size_t index_of(const doca_buf& buf) const { return static_cast<std::size_t>(&buf - block_); }

  // Of a pool.
  std::shared_ptr<Mmap> memory;
  std::size_t element_size = 0;
  std::size_t alignment = 1;
  std::size_t stride() const { return (element_size + alignment - 1) / alignment * alignment; }
  doca_buf* take_element();

 private:
  doca_buf* block_;
  std::size_t count_;
  doca_buf* free_ = nullptr;
  std::size_t free_count_ = 0;
  bool started_ = false;
};

}  // namespace verbs::doca_comm::model

struct doca_buf_inventory : verbs::doca_comm::model::Handle<verbs::doca_comm::model::BufferSource> {};
struct doca_buf_pool : verbs::doca_comm::model::Handle<verbs::doca_comm::model::BufferSource> {};

namespace verbs::doca_comm::model {

using InventoryPool = HandlePool<doca_buf_inventory, BufferSource>;
using BufPoolPool = HandlePool<doca_buf_pool, BufferSource>;

}  // namespace verbs::doca_comm::model
