// Every function of librdmacm 65, and the table by which the drop-in librdmacm.so.1 calls this library.
#pragma once

#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <rdma/rsocket.h>
#include <sys/epoll.h>

#include "verbs_soft_extension.h"

// X(result, name, parameters, arguments). rfcntl() is not in the list: it has a variable number of arguments.
#define RDMACM_FUNCTIONS(X)                                                                                           \
  X(rdma_event_channel*, rdma_create_event_channel, (), ())                                                           \
  X(void, rdma_destroy_event_channel, (rdma_event_channel * channel), (channel))                                      \
  X(int, rdma_create_id, (rdma_event_channel * channel, rdma_cm_id * *id, void* context, rdma_port_space ps),         \
    (channel, id, context, ps))                                                                                       \
  X(int, rdma_destroy_id, (rdma_cm_id * id), (id))                                                                    \
  X(int, rdma_create_ep, (rdma_cm_id * *id, rdma_addrinfo * res, ibv_pd * pd, ibv_qp_init_attr * attr),               \
    (id, res, pd, attr))                                                                                              \
  X(void, rdma_destroy_ep, (rdma_cm_id * id), (id))                                                                   \
  X(int, rdma_bind_addr, (rdma_cm_id * id, sockaddr * addr), (id, addr))                                              \
  X(int, rdma_resolve_addr, (rdma_cm_id * id, sockaddr * src_addr, sockaddr * dst_addr, int timeout_ms),              \
    (id, src_addr, dst_addr, timeout_ms))                                                                             \
  X(int, rdma_resolve_route, (rdma_cm_id * id, int timeout_ms), (id, timeout_ms))                                     \
  X(int, rdma_create_qp, (rdma_cm_id * id, ibv_pd * pd, ibv_qp_init_attr * attr), (id, pd, attr))                     \
  X(int, rdma_create_qp_ex, (rdma_cm_id * id, ibv_qp_init_attr_ex * attr), (id, attr))                                \
  X(void, rdma_destroy_qp, (rdma_cm_id * id), (id))                                                                   \
  X(int, rdma_create_srq, (rdma_cm_id * id, ibv_pd * pd, ibv_srq_init_attr * attr), (id, pd, attr))                   \
  X(int, rdma_create_srq_ex, (rdma_cm_id * id, ibv_srq_init_attr_ex * attr), (id, attr))                              \
  X(void, rdma_destroy_srq, (rdma_cm_id * id), (id))                                                                  \
  X(int, rdma_connect, (rdma_cm_id * id, rdma_conn_param * param), (id, param))                                       \
  X(int, rdma_establish, (rdma_cm_id * id), (id))                                                                     \
  X(int, rdma_listen, (rdma_cm_id * id, int backlog), (id, backlog))                                                  \
  X(int, rdma_get_request, (rdma_cm_id * listen, rdma_cm_id * *id), (listen, id))                                     \
  X(int, rdma_accept, (rdma_cm_id * id, rdma_conn_param * param), (id, param))                                        \
  X(int, rdma_reject, (rdma_cm_id * id, const void* data, uint8_t length), (id, data, length))                        \
  X(int, rdma_reject_ece, (rdma_cm_id * id, const void* data, uint8_t length), (id, data, length))                    \
  X(int, rdma_notify, (rdma_cm_id * id, ibv_event_type event), (id, event))                                           \
  X(int, rdma_disconnect, (rdma_cm_id * id), (id))                                                                    \
  X(int, rdma_join_multicast, (rdma_cm_id * id, sockaddr * addr, void* context), (id, addr, context))                 \
  X(int, rdma_join_multicast_ex, (rdma_cm_id * id, rdma_cm_join_mc_attr_ex * attr, void* context),                    \
    (id, attr, context))                                                                                              \
  X(int, rdma_leave_multicast, (rdma_cm_id * id, sockaddr * addr), (id, addr))                                        \
  X(int, rdma_get_cm_event, (rdma_event_channel * channel, rdma_cm_event * *event), (channel, event))                 \
  X(int, rdma_ack_cm_event, (rdma_cm_event * event), (event))                                                         \
  X(__be16, rdma_get_src_port, (rdma_cm_id * id), (id))                                                               \
  X(__be16, rdma_get_dst_port, (rdma_cm_id * id), (id))                                                               \
  X(ibv_context**, rdma_get_devices, (int* count), (count))                                                           \
  X(void, rdma_free_devices, (ibv_context * *list), (list))                                                           \
  X(const char*, rdma_event_str, (rdma_cm_event_type event), (event))                                                 \
  X(int, rdma_set_option, (rdma_cm_id * id, int level, int name, void* value, size_t length),                         \
    (id, level, name, value, length))                                                                                 \
  X(int, rdma_migrate_id, (rdma_cm_id * id, rdma_event_channel * channel), (id, channel))                             \
  X(int, rdma_getaddrinfo, (const char* node, const char* service, const rdma_addrinfo* hints, rdma_addrinfo** res),  \
    (node, service, hints, res))                                                                                      \
  X(void, rdma_freeaddrinfo, (rdma_addrinfo * res), (res))                                                            \
  X(int, rdma_init_qp_attr, (rdma_cm_id * id, ibv_qp_attr * attr, int* mask), (id, attr, mask))                       \
  X(int, rdma_resolve_addrinfo, (rdma_cm_id * id, const char* node, const char* service, const rdma_addrinfo* hints), \
    (id, node, service, hints))                                                                                       \
  X(int, rdma_query_addrinfo, (rdma_cm_id * id, rdma_addrinfo * *info), (id, info))                                   \
  X(int, rdma_write_cm_event, (rdma_cm_id * id, rdma_cm_event_type event, int status, uint64_t arg),                  \
    (id, event, status, arg))                                                                                         \
  X(int, rdma_set_local_ece, (rdma_cm_id * id, ibv_ece * ece), (id, ece))                                             \
  X(int, rdma_get_remote_ece, (rdma_cm_id * id, ibv_ece * ece), (id, ece))                                            \
  RSOCKET_FUNCTIONS(X)

#define RSOCKET_FUNCTIONS(X)                                                                                        \
  X(int, rsocket, (int domain, int type, int protocol), (domain, type, protocol))                                   \
  X(int, rbind, (int socket, const sockaddr* addr, socklen_t length), (socket, addr, length))                       \
  X(int, rlisten, (int socket, int backlog), (socket, backlog))                                                     \
  X(int, raccept, (int socket, sockaddr* addr, socklen_t* length), (socket, addr, length))                          \
  X(int, rconnect, (int socket, const sockaddr* addr, socklen_t length), (socket, addr, length))                    \
  X(int, rshutdown, (int socket, int how), (socket, how))                                                           \
  X(int, rclose, (int socket), (socket))                                                                            \
  X(ssize_t, rrecv, (int socket, void* data, size_t length, int flags), (socket, data, length, flags))              \
  X(ssize_t, rrecvfrom, (int socket, void* data, size_t length, int flags, sockaddr* addr, socklen_t* addr_length), \
    (socket, data, length, flags, addr, addr_length))                                                               \
  X(ssize_t, rrecvmsg, (int socket, msghdr* message, int flags), (socket, message, flags))                          \
  X(ssize_t, rsend, (int socket, const void* data, size_t length, int flags), (socket, data, length, flags))        \
  X(ssize_t, rsendto,                                                                                               \
    (int socket, const void* data, size_t length, int flags, const sockaddr* addr, socklen_t addr_length),          \
    (socket, data, length, flags, addr, addr_length))                                                               \
  X(ssize_t, rsendmsg, (int socket, const msghdr* message, int flags), (socket, message, flags))                    \
  X(ssize_t, rread, (int socket, void* data, size_t count), (socket, data, count))                                  \
  X(ssize_t, rreadv, (int socket, const iovec* parts, int count), (socket, parts, count))                           \
  X(ssize_t, rwrite, (int socket, const void* data, size_t count), (socket, data, count))                           \
  X(ssize_t, rwritev, (int socket, const iovec* parts, int count), (socket, parts, count))                          \
  X(int, rpoll, (pollfd * fds, nfds_t count, int timeout), (fds, count, timeout))                                   \
  X(int, rselect, (int count, fd_set* readfds, fd_set* writefds, fd_set* exceptfds, timeval* timeout),              \
    (count, readfds, writefds, exceptfds, timeout))                                                                 \
  X(int, repoll_create, (int flags), (flags))                                                                       \
  X(int, repoll_ctl, (int epoll, int op, int fd, epoll_event* event), (epoll, op, fd, event))                       \
  X(int, repoll_wait, (int epoll, epoll_event* events, int count, int timeout), (epoll, events, count, timeout))    \
  X(int, rgetpeername, (int socket, sockaddr* addr, socklen_t* length), (socket, addr, length))                     \
  X(int, rgetsockname, (int socket, sockaddr* addr, socklen_t* length), (socket, addr, length))                     \
  X(int, rsetsockopt, (int socket, int level, int name, const void* value, socklen_t length),                       \
    (socket, level, name, value, length))                                                                           \
  X(int, rgetsockopt, (int socket, int level, int name, void* value, socklen_t* length),                            \
    (socket, level, name, value, length))                                                                           \
  X(off_t, riomap, (int socket, void* data, size_t length, int prot, int flags, off_t offset),                      \
    (socket, data, length, prot, flags, offset))                                                                    \
  X(int, riounmap, (int socket, void* data, size_t length), (socket, data, length))                                 \
  X(size_t, riowrite, (int socket, const void* data, size_t count, off_t offset, int flags),                        \
    (socket, data, count, offset, flags))

// Those that <rdma/rdma_cma.h> and <rdma/rsocket.h> of release 44 do not declare.
extern "C" {
int rdma_resolve_addrinfo(rdma_cm_id* id, const char* node, const char* service, const rdma_addrinfo* hints);
int rdma_query_addrinfo(rdma_cm_id* id, rdma_addrinfo** info);
int rdma_write_cm_event(rdma_cm_id* id, rdma_cm_event_type event, int status, uint64_t arg);
int repoll_create(int flags);
int repoll_ctl(int epoll, int op, int fd, epoll_event* event);
int repoll_wait(int epoll, epoll_event* events, int count, int timeout);
}

#define RDMACM_MEMBER(result, name, parameters, arguments) result(*name) parameters;
struct RdmacmFunctions {
  RDMACM_FUNCTIONS(RDMACM_MEMBER)
};
#undef RDMACM_MEMBER

// For the drop-in: gives it the table, and attaches the library as verbs_soft_model_load() does. A name of its own,
// because the libraries of all models are in the search order of a program that is linked with their drop-ins.
extern "C" int verbs_soft_rdmacm(verbs_soft_extension_function extension, const RdmacmFunctions** functions);
