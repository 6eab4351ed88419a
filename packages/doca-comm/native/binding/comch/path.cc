#include "binding/comch/path.h"

#include <new>

namespace verbs::doca_comm::binding {

ComchPath::ComchPath(ComchEnd& end, Kind kind, std::shared_ptr<Mmap> mmap, std::uint32_t tasks)
    : Context(end.engine(), kind), end_(end), mmap_(std::move(mmap)), tasks_(tasks), slots_(tasks) {
  end_.add_path();
  for (Slot& slot : slots_) slot.next = std::exchange(free_, &slot);
}

ComchPath::~ComchPath() {
  destroy_object();
  end_.remove_path();
}

std::unique_ptr<ComchPath> ComchPath::create(ComchEnd& end, const Connection& connection, std::shared_ptr<Mmap> mmap,
                                             std::uint32_t tasks, doca_error_t* error) {
  const Kind kind = mmap == nullptr ? Kind::kProducer : Kind::kConsumer;
  std::unique_ptr<ComchPath> path(new ComchPath(end, kind, std::move(mmap), tasks));
  const FastPathFunctions& f = path->fast();
  *error = f.buf_inventory_create(tasks, &path->inventory_);
  if (*error == DOCA_SUCCESS) *error = f.buf_inventory_start(path->inventory_);
  if (*error != DOCA_SUCCESS) return nullptr;
  *error = path->is_consumer() ? f.consumer_create(connection.pointer, path->mmap_->get(), &path->consumer_)
                               : f.producer_create(connection.pointer, &path->producer_);
  if (*error != DOCA_SUCCESS) return nullptr;
  path->ctx_ = path->is_consumer() ? f.consumer_as_ctx(path->consumer_) : f.producer_as_ctx(path->producer_);
  *error = path->set_up();
  return *error == DOCA_SUCCESS ? std::move(path) : nullptr;
}

doca_error_t ComchPath::start() {
  const FastPathFunctions& f = fast();
  const doca_error_t error = is_consumer()
                                 ? f.consumer_task_post_recv_set_conf(consumer_, on_received, on_received, tasks_)
                                 : f.producer_task_send_set_conf(producer_, on_sent, on_sent, tasks_);
  if (error != DOCA_SUCCESS) return error;
  const Engine::Current current(engine_);
  return Context::start();
}

doca_error_t ComchPath::get_id(std::uint32_t* id) const {
  return is_consumer() ? fast().consumer_get_id(consumer_, id) : fast().producer_get_id(producer_, id);
}

ComchPath::Slot* ComchPath::take_slot(const std::shared_ptr<Mmap>& mmap, std::uint64_t offset, std::uint64_t length,
                                      std::uint64_t data_length, doca_error_t* error) {
  if (!mmap->contains(offset, length)) {
    *error = DOCA_ERROR_INVALID_VALUE;
    return nullptr;
  }
  if (free_ == nullptr) {
    *error = DOCA_ERROR_NO_MEMORY;
    return nullptr;
  }
  std::uint8_t* at = mmap->pages()->data() + offset;
  doca_buf* buf = nullptr;
  *error = fast().buf_inventory_buf_get_by_args(inventory_, mmap->get(), at, length, at, data_length, &buf);
  if (*error != DOCA_SUCCESS) return nullptr;
  Slot* slot = std::exchange(free_, free_->next);
  slot->mmap = mmap;
  slot->buf = buf;
  return slot;
}

void ComchPath::give_back(Slot* slot) {
  fast().buf_dec_refcount(slot->buf, nullptr);
  slot->buf = nullptr;
  slot->mmap.reset();
  slot->next = std::exchange(free_, slot);
}

doca_error_t ComchPath::submit(doca_task* task, Slot* slot) {
  const EngineFunctions& e = engine_.functions();
  doca_data data{};
  data.ptr = slot;
  e.task_set_user_data(task, data);
  const doca_error_t error = e.task_submit(task);
  if (error != DOCA_SUCCESS) e.task_free(task);
  return error;
}

doca_error_t ComchPath::post_receive(std::uint64_t offset, std::uint64_t length, std::uint32_t cookie) {
  if (!is_consumer()) return DOCA_ERROR_NOT_SUPPORTED;
  doca_error_t error = DOCA_SUCCESS;
  Slot* slot = take_slot(mmap_, offset, length, 0, &error);
  if (slot == nullptr) return error;
  slot->cookie = cookie;
  doca_comch_consumer_task_post_recv* task = nullptr;
  error = fast().consumer_task_post_recv_alloc_init(consumer_, slot->buf, &task);
  if (error == DOCA_SUCCESS) error = submit(fast().consumer_task_post_recv_as_task(task), slot);
  if (error != DOCA_SUCCESS) give_back(slot);
  return error;
}

doca_error_t ComchPath::send(const std::shared_ptr<Mmap>& mmap, std::uint64_t offset, std::uint64_t length,
                             const std::uint8_t* immediate, std::uint32_t immediate_length, std::uint32_t consumer,
                             std::uint32_t cookie) {
  if (is_consumer()) return DOCA_ERROR_NOT_SUPPORTED;
  if (immediate_length > kMaxImmediate || &mmap->library() != &engine_.library()) return DOCA_ERROR_INVALID_VALUE;
  doca_error_t error = DOCA_SUCCESS;
  Slot* slot = take_slot(mmap, offset, length, length, &error);
  if (slot == nullptr) return error;
  slot->cookie = cookie;
  doca_comch_producer_task_send* task = nullptr;
  try {
    slot->immediate.assign(immediate, immediate + immediate_length);
    std::uint8_t* its_immediate = immediate_length == 0 ? nullptr : slot->immediate.data();
    error =
        fast().producer_task_send_alloc_init(producer_, slot->buf, its_immediate, immediate_length, consumer, &task);
  } catch (const std::bad_alloc&) {
    error = DOCA_ERROR_NO_MEMORY;
  }
  if (error == DOCA_SUCCESS) error = submit(fast().producer_task_send_as_task(task), slot);
  if (error != DOCA_SUCCESS) give_back(slot);
  return error;
}

void ComchPath::on_received(doca_comch_consumer_task_post_recv* received, doca_data task_data, doca_data ctx_data) {
  auto& path = *static_cast<ComchPath*>(static_cast<Context*>(ctx_data.ptr));
  auto* slot = static_cast<Slot*>(task_data.ptr);
  const FastPathFunctions& f = path.fast();
  const EngineFunctions& e = path.engine_.functions();
  doca_task* task = f.consumer_task_post_recv_as_task(received);
  Event event{.kind = EventKind::kReceived,
              .number = static_cast<std::uint32_t>(e.task_get_status(task)),
              .cookie = slot->cookie};
  const std::uint8_t* immediate = nullptr;
  std::uint32_t immediate_length = 0;
  if (event.number == DOCA_SUCCESS) {
    std::size_t length = 0;
    f.buf_get_data_len(slot->buf, &length);
    event.connection = f.consumer_task_post_recv_get_producer_id(received);
    event.extra = static_cast<std::uint32_t>(length);
    immediate = f.consumer_task_post_recv_get_imm_data(received);
    if (immediate != nullptr) immediate_length = f.consumer_task_post_recv_get_imm_data_len(received);
  }
  path.push(event, immediate, immediate_length);
  e.task_free(task);
  path.give_back(slot);
}

void ComchPath::on_sent(doca_comch_producer_task_send* sent, doca_data task_data, doca_data ctx_data) {
  auto& path = *static_cast<ComchPath*>(static_cast<Context*>(ctx_data.ptr));
  auto* slot = static_cast<Slot*>(task_data.ptr);
  const EngineFunctions& e = path.engine_.functions();
  doca_task* task = path.fast().producer_task_send_as_task(sent);
  path.push({.kind = EventKind::kSent,
             .number = static_cast<std::uint32_t>(e.task_get_status(task)),
             .cookie = slot->cookie});
  e.task_free(task);
  path.give_back(slot);
}

doca_error_t ComchPath::destroy_object() {
  const FastPathFunctions& f = fast();
  doca_error_t error = DOCA_SUCCESS;
  if (consumer_ != nullptr) error = f.consumer_destroy(consumer_);
  if (producer_ != nullptr) error = f.producer_destroy(producer_);
  if (error != DOCA_SUCCESS) return error;
  consumer_ = nullptr;
  producer_ = nullptr;
  if (inventory_ == nullptr) return DOCA_SUCCESS;
  f.buf_inventory_stop(inventory_);
  f.buf_inventory_destroy(inventory_);
  inventory_ = nullptr;
  return DOCA_SUCCESS;
}

}  // namespace verbs::doca_comm::binding
