// The functions of Comch: the engine, contexts and memory of libdoca_common, the control path and the fast path of
// libdoca_comch. Nothing links them.
#pragma once

#include "doca_buf_inventory.h"
#include "doca_comch.h"
#include "doca_comch_consumer.h"
#include "doca_comch_producer.h"
#include "doca_ctx.h"
#include "doca_mmap.h"
#include "doca_pe.h"

namespace verbs::doca_comm::binding {

// Of libdoca_common, with the prefix doca_.
#define VERBS_DOCA_ENGINE_FUNCTIONS(X) \
  X(pe_create)                         \
  X(pe_destroy)                        \
  X(pe_connect_ctx)                    \
  X(pe_progress)                       \
  X(pe_get_notification_handle)        \
  X(pe_request_notification)           \
  X(pe_clear_notification)             \
  X(ctx_start)                         \
  X(ctx_stop)                          \
  X(ctx_set_user_data)                 \
  X(ctx_get_user_data)                 \
  X(ctx_set_state_changed_cb)          \
  X(task_submit)                       \
  X(task_free)                         \
  X(task_get_status)                   \
  X(task_set_user_data)

#define VERBS_DOCA_MEMORY_FUNCTIONS(X) \
  X(mmap_create)                       \
  X(mmap_destroy)                      \
  X(mmap_add_dev)                      \
  X(mmap_set_memrange)                 \
  X(mmap_set_permissions)              \
  X(mmap_start)                        \
  X(mmap_stop)                         \
  X(buf_inventory_create)              \
  X(buf_inventory_destroy)             \
  X(buf_inventory_start)               \
  X(buf_inventory_stop)                \
  X(buf_inventory_buf_get_by_args)     \
  X(buf_get_data_len)                  \
  X(buf_dec_refcount)

// Of libdoca_comch, with the prefix doca_comch_; of libdoca_cc of 2.5 and 2.6, with doca_cc_.
#define VERBS_COMCH_CONTROL_FUNCTIONS(X) \
  X(cap_server_is_supported)             \
  X(cap_client_is_supported)             \
  X(cap_get_max_name_len)                \
  X(cap_get_max_msg_size)                \
  X(cap_get_max_recv_queue_size)         \
  X(cap_get_max_send_tasks)              \
  X(cap_get_max_clients)                 \
  X(server_create)                       \
  X(server_destroy)                      \
  X(server_set_max_msg_size)             \
  X(server_get_max_msg_size)             \
  X(server_set_recv_queue_size)          \
  X(server_get_recv_queue_size)          \
  X(server_as_ctx)                       \
  X(server_task_send_set_conf)           \
  X(server_task_send_alloc_init)         \
  X(server_event_msg_recv_register)      \
  X(server_disconnect)                   \
  X(server_get_server_ctx)               \
  X(client_create)                       \
  X(client_destroy)                      \
  X(client_set_max_msg_size)             \
  X(client_get_max_msg_size)             \
  X(client_set_recv_queue_size)          \
  X(client_get_recv_queue_size)          \
  X(client_as_ctx)                       \
  X(client_task_send_set_conf)           \
  X(client_task_send_alloc_init)         \
  X(client_event_msg_recv_register)      \
  X(client_get_connection)               \
  X(client_get_client_ctx)               \
  X(task_send_as_task)                   \
  X(connection_set_user_data)            \
  X(connection_get_user_data)            \
  X(connection_update_info)              \
  X(connection_get_counter)

// Of consumers and producers.
#define VERBS_COMCH_FAST_FUNCTIONS(X)         \
  X(server_event_consumer_register)           \
  X(client_event_consumer_register)           \
  X(consumer_create)                          \
  X(consumer_destroy)                         \
  X(consumer_as_ctx)                          \
  X(consumer_get_id)                          \
  X(consumer_cap_is_supported)                \
  X(consumer_cap_get_max_num_tasks)           \
  X(consumer_cap_get_max_buf_size)            \
  X(consumer_cap_get_max_imm_data_len)        \
  X(consumer_set_imm_data_len)                \
  X(consumer_task_post_recv_set_conf)         \
  X(consumer_task_post_recv_alloc_init)       \
  X(consumer_task_post_recv_as_task)          \
  X(consumer_task_post_recv_get_producer_id)  \
  X(consumer_task_post_recv_get_imm_data)     \
  X(consumer_task_post_recv_get_imm_data_len) \
  X(producer_create)                          \
  X(producer_destroy)                         \
  X(producer_as_ctx)                          \
  X(producer_get_id)                          \
  X(producer_cap_is_supported)                \
  X(producer_cap_get_max_num_tasks)           \
  X(producer_cap_get_max_buf_size)            \
  X(producer_task_send_set_conf)              \
  X(producer_task_send_alloc_init)            \
  X(producer_task_send_as_task)

struct EngineFunctions {
#define VERBS_DOCA_MEMBER(name) decltype(&doca_##name) name = nullptr;
  VERBS_DOCA_ENGINE_FUNCTIONS(VERBS_DOCA_MEMBER)
#undef VERBS_DOCA_MEMBER
};

struct ComchFunctions {
#define VERBS_COMCH_MEMBER(name) decltype(&doca_comch_##name) name = nullptr;
  VERBS_COMCH_CONTROL_FUNCTIONS(VERBS_COMCH_MEMBER)
#undef VERBS_COMCH_MEMBER
  // Up to 2.6 server_event_connection_register.
  decltype(&doca_comch_server_event_connection_status_changed_register) server_event_connection_register = nullptr;
};

struct FastPathFunctions {
#define VERBS_DOCA_MEMBER(name) decltype(&doca_##name) name = nullptr;
  VERBS_DOCA_MEMORY_FUNCTIONS(VERBS_DOCA_MEMBER)
#undef VERBS_DOCA_MEMBER
  // Null in older versions.
  decltype(&doca_mmap_set_dmabuf_memrange) mmap_set_dmabuf_memrange = nullptr;
#define VERBS_COMCH_MEMBER(name) decltype(&doca_comch_##name) name = nullptr;
  VERBS_COMCH_FAST_FUNCTIONS(VERBS_COMCH_MEMBER)
#undef VERBS_COMCH_MEMBER
};

}  // namespace verbs::doca_comm::binding
