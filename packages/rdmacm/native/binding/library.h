// A loaded librdmacm: its functions, found by name. Nothing links it.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>

#include "provider/core.h"

namespace verbs::rdmacm::binding {

using namespace verbs::provider;  // NOLINT(google-build-using-namespace): values, and the objects of @verbs/core

// clang-format off: a list in columns.
// Of every librdmacm.
#define RDMACM_NEEDED(X) \
  X(rdma_create_event_channel) X(rdma_destroy_event_channel) X(rdma_create_id) X(rdma_destroy_id) \
  X(rdma_bind_addr) X(rdma_resolve_addr) X(rdma_resolve_route) X(rdma_create_qp_ex) X(rdma_destroy_qp) \
  X(rdma_connect) X(rdma_listen) X(rdma_accept) X(rdma_reject) X(rdma_notify) X(rdma_disconnect) \
  X(rdma_join_multicast) X(rdma_leave_multicast) X(rdma_get_cm_event) X(rdma_ack_cm_event) X(rdma_get_src_port) \
  X(rdma_get_dst_port) X(rdma_get_devices) X(rdma_free_devices) X(rdma_event_str) X(rdma_set_option) \
  X(rdma_migrate_id) X(rdma_getaddrinfo) X(rdma_freeaddrinfo)
// Of later releases: a null pointer in an older one.
#define RDMACM_OPTIONAL(X) \
  X(rdma_join_multicast_ex) X(rdma_establish) X(rdma_init_qp_attr) X(rdma_set_local_ece) X(rdma_get_remote_ece) \
  X(rdma_reject_ece)
// Of releases whose header may not be the one at hand: X(result, function, parameters), as optional.
#define RDMACM_NEWER(X)                                                                                          \
  X(int, rdma_resolve_addrinfo, (rdma_cm_id * id, const char* node, const char* service, const rdma_addrinfo* hints)) \
  X(int, rdma_query_addrinfo, (rdma_cm_id * id, rdma_addrinfo** info))                                            \
  X(int, rdma_write_cm_event, (rdma_cm_id * id, int event, int status, std::uint64_t argument))
// clang-format on

struct Library {
  void* handle;
#define RDMACM_MEMBER(function) decltype(&::function) function;
  RDMACM_NEEDED(RDMACM_MEMBER)
  RDMACM_OPTIONAL(RDMACM_MEMBER)
#undef RDMACM_MEMBER
#define RDMACM_MEMBER(result, function, parameters) result(*function) parameters;
  RDMACM_NEWER(RDMACM_MEMBER)
#undef RDMACM_MEMBER
};

// TypeError for anything that is no handle of a library.
const Library& library_of(const Napi::CallbackInfo& info, std::size_t index);

// 0, or the errno of a call that failed. Some functions of the library give a positive errno, most give -1.
int error_of(int result);

void init_library(Napi::Object exports);
void init_device(Napi::Object exports);
void init_channel(Napi::Object exports);
void init_event(Napi::Object exports);
void init_id(Napi::Object exports);
void init_connection(Napi::Object exports);
void init_queue_pair(Napi::Object exports);
void init_multicast(Napi::Object exports);
void init_addrinfo(Napi::Object exports);

}  // namespace verbs::rdmacm::binding
