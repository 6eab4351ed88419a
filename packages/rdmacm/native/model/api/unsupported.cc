// Not yet here.
#include <cerrno>

#include "model/library/functions.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

extern "C" {

int rdma_create_ep(rdma_cm_id * *id, rdma_addrinfo * res, ibv_pd * pd, ibv_qp_init_attr * attr) {
  errno = ENOSYS;
  return -1;
}

void rdma_destroy_ep(rdma_cm_id * id) {
  errno = ENOSYS;
}

int rdma_bind_addr(rdma_cm_id * id, sockaddr * addr) {
  errno = ENOSYS;
  return -1;
}

int rdma_resolve_addr(rdma_cm_id * id, sockaddr * src_addr, sockaddr * dst_addr, int timeout_ms) {
  errno = ENOSYS;
  return -1;
}

int rdma_resolve_route(rdma_cm_id * id, int timeout_ms) {
  errno = ENOSYS;
  return -1;
}

int rdma_create_qp(rdma_cm_id * id, ibv_pd * pd, ibv_qp_init_attr * attr) {
  errno = ENOSYS;
  return -1;
}

int rdma_create_qp_ex(rdma_cm_id * id, ibv_qp_init_attr_ex * attr) {
  errno = ENOSYS;
  return -1;
}

void rdma_destroy_qp(rdma_cm_id * id) {
  errno = ENOSYS;
}

int rdma_create_srq(rdma_cm_id * id, ibv_pd * pd, ibv_srq_init_attr * attr) {
  errno = ENOSYS;
  return -1;
}

int rdma_create_srq_ex(rdma_cm_id * id, ibv_srq_init_attr_ex * attr) {
  errno = ENOSYS;
  return -1;
}

void rdma_destroy_srq(rdma_cm_id * id) {
  errno = ENOSYS;
}

int rdma_connect(rdma_cm_id * id, rdma_conn_param * param) {
  errno = ENOSYS;
  return -1;
}

int rdma_establish(rdma_cm_id * id) {
  errno = ENOSYS;
  return -1;
}

int rdma_listen(rdma_cm_id * id, int backlog) {
  errno = ENOSYS;
  return -1;
}

int rdma_get_request(rdma_cm_id * listen, rdma_cm_id * *id) {
  errno = ENOSYS;
  return -1;
}

int rdma_accept(rdma_cm_id * id, rdma_conn_param * param) {
  errno = ENOSYS;
  return -1;
}

int rdma_reject(rdma_cm_id * id, const void* data, uint8_t length) {
  errno = ENOSYS;
  return -1;
}

int rdma_reject_ece(rdma_cm_id * id, const void* data, uint8_t length) {
  errno = ENOSYS;
  return -1;
}

int rdma_notify(rdma_cm_id * id, ibv_event_type event) {
  errno = ENOSYS;
  return -1;
}

int rdma_disconnect(rdma_cm_id * id) {
  errno = ENOSYS;
  return -1;
}

int rdma_join_multicast(rdma_cm_id * id, sockaddr * addr, void* context) {
  errno = ENOSYS;
  return -1;
}

int rdma_join_multicast_ex(rdma_cm_id * id, rdma_cm_join_mc_attr_ex * attr, void* context) {
  errno = ENOSYS;
  return -1;
}

int rdma_leave_multicast(rdma_cm_id * id, sockaddr * addr) {
  errno = ENOSYS;
  return -1;
}

int rdma_get_cm_event(rdma_event_channel * channel, rdma_cm_event * *event) {
  errno = ENOSYS;
  return -1;
}

int rdma_ack_cm_event(rdma_cm_event * event) {
  errno = ENOSYS;
  return -1;
}

__be16 rdma_get_src_port(rdma_cm_id * id) {
  errno = ENOSYS;
  return 0;
}

__be16 rdma_get_dst_port(rdma_cm_id * id) {
  errno = ENOSYS;
  return 0;
}

ibv_context** rdma_get_devices(int* count) {
  errno = ENOSYS;
  return nullptr;
}

void rdma_free_devices(ibv_context * *list) {
  errno = ENOSYS;
}

int rdma_set_option(rdma_cm_id * id, int level, int name, void* value, size_t length) {
  errno = ENOSYS;
  return -1;
}

int rdma_migrate_id(rdma_cm_id * id, rdma_event_channel * channel) {
  errno = ENOSYS;
  return -1;
}

int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints, rdma_addrinfo** res) {
  errno = ENOSYS;
  return -1;
}

void rdma_freeaddrinfo(rdma_addrinfo * res) {
  errno = ENOSYS;
}

int rdma_init_qp_attr(rdma_cm_id * id, ibv_qp_attr * attr, int* mask) {
  errno = ENOSYS;
  return -1;
}

int rdma_set_local_ece(rdma_cm_id * id, ibv_ece * ece) {
  errno = ENOSYS;
  return -1;
}

int rdma_get_remote_ece(rdma_cm_id * id, ibv_ece * ece) {
  errno = ENOSYS;
  return -1;
}

}  // extern "C"
