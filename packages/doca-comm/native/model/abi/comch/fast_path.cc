// The fast path of Comch: consumers and producers.
#include "model/abi/common/versions.h"
#include "model/base/boundary.h"
#include "model/comch/consumer.h"
#include "model/comch/producer.h"

VERBS_DOCA_STABLE(doca_comch_consumer_as_ctx);
VERBS_DOCA_STABLE(doca_comch_consumer_cap_get_max_buf_list_len);
VERBS_DOCA_STABLE(doca_comch_consumer_cap_get_max_buf_size);
VERBS_DOCA_STABLE(doca_comch_consumer_cap_get_max_consumers);
VERBS_DOCA_STABLE(doca_comch_consumer_cap_get_max_imm_data_len);
VERBS_DOCA_STABLE(doca_comch_consumer_cap_get_max_num_tasks);
VERBS_DOCA_STABLE(doca_comch_consumer_cap_is_supported);
VERBS_DOCA_STABLE(doca_comch_consumer_create);
VERBS_DOCA_STABLE(doca_comch_consumer_destroy);
VERBS_DOCA_STABLE(doca_comch_consumer_get_id);
VERBS_DOCA_STABLE(doca_comch_consumer_get_imm_data_len);
VERBS_DOCA_STABLE(doca_comch_consumer_set_imm_data_len);
VERBS_DOCA_STABLE(doca_comch_consumer_task_post_recv_alloc_init);
VERBS_DOCA_STABLE(doca_comch_consumer_task_post_recv_as_task);
VERBS_DOCA_STABLE(doca_comch_consumer_task_post_recv_get_buf);
VERBS_DOCA_STABLE(doca_comch_consumer_task_post_recv_get_imm_data);
VERBS_DOCA_STABLE(doca_comch_consumer_task_post_recv_get_imm_data_len);
VERBS_DOCA_STABLE(doca_comch_consumer_task_post_recv_get_producer_id);
VERBS_DOCA_STABLE(doca_comch_consumer_task_post_recv_set_buf);
VERBS_DOCA_STABLE(doca_comch_consumer_task_post_recv_set_conf);
VERBS_DOCA_STABLE(doca_comch_producer_as_ctx);
VERBS_DOCA_STABLE(doca_comch_producer_cap_get_max_buf_list_len);
VERBS_DOCA_STABLE(doca_comch_producer_cap_get_max_buf_size);
VERBS_DOCA_STABLE(doca_comch_producer_cap_get_max_num_tasks);
VERBS_DOCA_STABLE(doca_comch_producer_cap_get_max_producers);
VERBS_DOCA_STABLE(doca_comch_producer_cap_is_supported);
VERBS_DOCA_STABLE(doca_comch_producer_create);
VERBS_DOCA_STABLE(doca_comch_producer_destroy);
VERBS_DOCA_STABLE(doca_comch_producer_get_id);
VERBS_DOCA_STABLE(doca_comch_producer_task_send_alloc_init);
VERBS_DOCA_STABLE(doca_comch_producer_task_send_as_task);
VERBS_DOCA_STABLE(doca_comch_producer_task_send_get_buf);
VERBS_DOCA_STABLE(doca_comch_producer_task_send_get_consumer_id);
VERBS_DOCA_STABLE(doca_comch_producer_task_send_get_imm_data);
VERBS_DOCA_STABLE(doca_comch_producer_task_send_get_imm_data_len);
VERBS_DOCA_STABLE(doca_comch_producer_task_send_set_buf);
VERBS_DOCA_STABLE(doca_comch_producer_task_send_set_conf);
VERBS_DOCA_STABLE(doca_comch_producer_task_send_set_consumer_id);
VERBS_DOCA_STABLE(doca_comch_producer_task_send_set_imm_data);

using verbs::doca_comm::model::Bluefield;
using verbs::doca_comm::model::contained;
using verbs::doca_comm::model::find_task_of;
using verbs::doca_comm::model::comch::Consumer;
using verbs::doca_comm::model::comch::find_consumer;
using verbs::doca_comm::model::comch::find_producer;
using verbs::doca_comm::model::comch::Producer;

namespace {

doca_error_t capability(const doca_devinfo* devinfo, std::uint32_t value, std::uint32_t* result) {
  return contained([&]() -> doca_error_t {
    if (!result || !Bluefield::get().knows(devinfo)) return DOCA_ERROR_INVALID_VALUE;
    *result = value;
    return DOCA_SUCCESS;
  });
}

// Both roles have both.
doca_error_t supported(const doca_devinfo* devinfo) {
  return contained(
      [&]() -> doca_error_t { return Bluefield::get().knows(devinfo) ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE; });
}

// Of both: the list of a task is one buffer.
constexpr std::uint32_t kMaxListLength = 1;

}  // namespace

extern "C" {

doca_error_t doca_comch_consumer_create(doca_comch_connection* comch_connection, doca_mmap* buf_mmap,
                                        doca_comch_consumer** consumer) {
  return contained([&]() -> doca_error_t {
    return consumer ? Consumer::create(comch_connection, buf_mmap, consumer) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_comch_consumer_destroy(doca_comch_consumer* consumer) {
  return contained([&] { return verbs::doca_comm::model::comch::destroy_consumer(consumer); });
}
doca_ctx* doca_comch_consumer_as_ctx(doca_comch_consumer* consumer) {
  const Consumer* found = find_consumer(consumer);
  return found ? found->handle() : nullptr;
}
doca_error_t doca_comch_consumer_get_id(const doca_comch_consumer* consumer, std::uint32_t* id) {
  return contained([&]() -> doca_error_t {
    const Consumer* found = find_consumer(consumer);
    if (!found || !id) return DOCA_ERROR_INVALID_VALUE;
    *id = found->id();
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_comch_consumer_set_imm_data_len(doca_comch_consumer* consumer, std::uint32_t imm_data_len) {
  return contained([&]() -> doca_error_t {
    Consumer* found = find_consumer(consumer);
    return found ? found->set_immediate_length(imm_data_len) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_comch_consumer_get_imm_data_len(const doca_comch_consumer* consumer, std::uint32_t* imm_data_len) {
  return contained([&]() -> doca_error_t {
    const Consumer* found = find_consumer(consumer);
    if (!found || !imm_data_len) return DOCA_ERROR_INVALID_VALUE;
    *imm_data_len = found->immediate_length();
    return DOCA_SUCCESS;
  });
}

doca_error_t doca_comch_consumer_cap_is_supported(const doca_devinfo* devinfo) { return supported(devinfo); }
doca_error_t doca_comch_consumer_cap_get_max_num_tasks(const doca_devinfo* devinfo, std::uint32_t* max_num_tasks) {
  return capability(devinfo, verbs::doca_comm::model::comch::kMaxFastTasks, max_num_tasks);
}
doca_error_t doca_comch_consumer_cap_get_max_buf_size(const doca_devinfo* devinfo, std::uint32_t* max_buf_size) {
  return capability(devinfo, verbs::doca_comm::model::comch::kMaxBufferSize, max_buf_size);
}
doca_error_t doca_comch_consumer_cap_get_max_buf_list_len(const doca_devinfo* devinfo,
                                                          std::uint32_t* max_buf_list_len) {
  return capability(devinfo, kMaxListLength, max_buf_list_len);
}
doca_error_t doca_comch_consumer_cap_get_max_consumers(const doca_devinfo* devinfo, std::uint32_t* max_consumers) {
  return capability(devinfo, verbs::doca_comm::model::comch::kMaxConsumers, max_consumers);
}
doca_error_t doca_comch_consumer_cap_get_max_imm_data_len(const doca_devinfo* devinfo,
                                                          std::uint32_t* max_imm_data_len) {
  return capability(devinfo, verbs::doca_comm::model::comch::kMaxImmediate, max_imm_data_len);
}

doca_error_t doca_comch_consumer_task_post_recv_set_conf(
    doca_comch_consumer* consumer, doca_comch_consumer_task_post_recv_completion_cb_t task_completion_cb,
    doca_comch_consumer_task_post_recv_completion_cb_t task_error_cb, std::uint32_t num_post_recv_tasks) {
  return contained([&]() -> doca_error_t {
    Consumer* found = find_consumer(consumer);
    return found ? found->configure(task_completion_cb, task_error_cb, num_post_recv_tasks) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_comch_consumer_task_post_recv_alloc_init(doca_comch_consumer* consumer, doca_buf* buf,
                                                           doca_comch_consumer_task_post_recv** task) {
  return contained([&]() -> doca_error_t {
    Consumer* found = find_consumer(consumer);
    return found && task ? found->allocate(buf, task) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_buf* doca_comch_consumer_task_post_recv_get_buf(doca_comch_consumer_task_post_recv* task) {
  return find_task_of(task) ? task->buf : nullptr;
}
// A task that is in flight keeps its values.
void doca_comch_consumer_task_post_recv_set_buf(doca_comch_consumer_task_post_recv* task, doca_buf* buf) {
  if (find_task_of(task) && task->owner == doca_task::Owner::kProgram) task->buf = buf;
}
std::uint32_t doca_comch_consumer_task_post_recv_get_producer_id(doca_comch_consumer_task_post_recv* task) {
  return find_task_of(task) ? task->producer : 0;
}
std::uint8_t* doca_comch_consumer_task_post_recv_get_imm_data(doca_comch_consumer_task_post_recv* task) {
  return find_task_of(task) ? task->immediate : nullptr;
}
std::uint32_t doca_comch_consumer_task_post_recv_get_imm_data_len(doca_comch_consumer_task_post_recv* task) {
  return find_task_of(task) ? task->immediate_length : 0;
}
doca_task* doca_comch_consumer_task_post_recv_as_task(doca_comch_consumer_task_post_recv* task) { return task; }

doca_error_t doca_comch_producer_create(doca_comch_connection* comch_connection, doca_comch_producer** producer) {
  return contained([&]() -> doca_error_t {
    return producer ? Producer::create(comch_connection, producer) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_comch_producer_destroy(doca_comch_producer* producer) {
  return contained([&] { return verbs::doca_comm::model::comch::destroy_producer(producer); });
}
doca_ctx* doca_comch_producer_as_ctx(doca_comch_producer* producer) {
  const Producer* found = find_producer(producer);
  return found ? found->handle() : nullptr;
}
doca_error_t doca_comch_producer_get_id(const doca_comch_producer* producer, std::uint32_t* id) {
  return contained([&]() -> doca_error_t {
    const Producer* found = find_producer(producer);
    if (!found || !id) return DOCA_ERROR_INVALID_VALUE;
    *id = found->id();
    return DOCA_SUCCESS;
  });
}

doca_error_t doca_comch_producer_cap_is_supported(const doca_devinfo* devinfo) { return supported(devinfo); }
doca_error_t doca_comch_producer_cap_get_max_num_tasks(const doca_devinfo* devinfo, std::uint32_t* max_num_tasks) {
  return capability(devinfo, verbs::doca_comm::model::comch::kMaxFastTasks, max_num_tasks);
}
doca_error_t doca_comch_producer_cap_get_max_buf_size(const doca_devinfo* devinfo, std::uint32_t* max_buf_size) {
  return capability(devinfo, verbs::doca_comm::model::comch::kMaxBufferSize, max_buf_size);
}
doca_error_t doca_comch_producer_cap_get_max_buf_list_len(const doca_devinfo* devinfo,
                                                          std::uint32_t* max_buf_list_len) {
  return capability(devinfo, kMaxListLength, max_buf_list_len);
}
doca_error_t doca_comch_producer_cap_get_max_producers(const doca_devinfo* devinfo, std::uint32_t* max_producers) {
  return capability(devinfo, verbs::doca_comm::model::comch::kMaxProducers, max_producers);
}

doca_error_t doca_comch_producer_task_send_set_conf(doca_comch_producer* producer,
                                                    doca_comch_producer_task_send_completion_cb_t task_completion_cb,
                                                    doca_comch_producer_task_send_completion_cb_t task_error_cb,
                                                    std::uint32_t num_send_tasks) {
  return contained([&]() -> doca_error_t {
    Producer* found = find_producer(producer);
    return found ? found->configure(task_completion_cb, task_error_cb, num_send_tasks) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_comch_producer_task_send_alloc_init(doca_comch_producer* producer, const doca_buf* buf,
                                                      std::uint8_t* imm_data, std::uint32_t imm_data_len,
                                                      std::uint32_t consumer_id, doca_comch_producer_task_send** task) {
  return contained([&]() -> doca_error_t {
    Producer* found = find_producer(producer);
    if (!found || !task) return DOCA_ERROR_INVALID_VALUE;
    return found->allocate(buf, imm_data, imm_data_len, consumer_id, task);
  });
}
const doca_buf* doca_comch_producer_task_send_get_buf(doca_comch_producer_task_send* task) {
  return find_task_of(task) ? task->buf : nullptr;
}
void doca_comch_producer_task_send_set_buf(doca_comch_producer_task_send* task, const doca_buf* buf) {
  if (find_task_of(task) && task->owner == doca_task::Owner::kProgram) task->buf = buf;
}
std::uint32_t doca_comch_producer_task_send_get_consumer_id(doca_comch_producer_task_send* task) {
  return find_task_of(task) ? task->consumer : 0;
}
void doca_comch_producer_task_send_set_consumer_id(doca_comch_producer_task_send* task, std::uint32_t consumer_id) {
  if (find_task_of(task) && task->owner == doca_task::Owner::kProgram) task->consumer = consumer_id;
}
std::uint8_t* doca_comch_producer_task_send_get_imm_data(doca_comch_producer_task_send* task) {
  return find_task_of(task) && task->immediate_length > 0 ? task->immediate : nullptr;
}
std::uint32_t doca_comch_producer_task_send_get_imm_data_len(doca_comch_producer_task_send* task) {
  return find_task_of(task) ? task->immediate_length : 0;
}
// Longer immediate data than the devices support is not taken: the task then has none.
void doca_comch_producer_task_send_set_imm_data(doca_comch_producer_task_send* task, std::uint8_t* imm_data,
                                                std::uint32_t imm_data_len) {
  if (!find_task_of(task) || task->owner != doca_task::Owner::kProgram) return;
  task->immediate_length = imm_data && imm_data_len <= sizeof task->immediate ? imm_data_len : 0;
  for (std::uint32_t i = 0; i < task->immediate_length; ++i) task->immediate[i] = imm_data[i];
}
doca_task* doca_comch_producer_task_send_as_task(doca_comch_producer_task_send* task) { return task; }

}  // extern "C"
