/*
 * The connection manager of the software NIC: the communication management protocol of IBTA volume 1, chapter 12, with
 * the IP addressing of its RDMA IP CM Service annex. A librdmacm is built on it; it is what the kernel's ib_cm is
 * there.
 *
 * Calls return 0 or a positive errno value. A device's connections have numbers, which are never 0 and are not used
 * again soon; a number that is not a connection is EINVAL. Addresses are GIDs in network byte order (IPv4 mapped),
 * everything else is in host byte order.
 */
#ifndef VERBS_SOFT_CM_H
#define VERBS_SOFT_CM_H

#include <infiniband/verbs.h>
#include <stdint.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of private data that a message takes. The first three are what is left beside the IP addressing header. */
#define VERBS_SOFT_CM_CONNECT_DATA 56
#define VERBS_SOFT_CM_LOOKUP_DATA 180
#define VERBS_SOFT_CM_IP_HEADER 36
#define VERBS_SOFT_CM_REPLY_DATA 196
#define VERBS_SOFT_CM_READY_DATA 224
#define VERBS_SOFT_CM_REJECT_DATA 148
#define VERBS_SOFT_CM_DISCONNECT_DATA 220
#define VERBS_SOFT_CM_DISCONNECTED_DATA 224
#define VERBS_SOFT_CM_LOOKUP_REPLY_DATA 136

/* Reasons of a rejection (IBTA table 107). */
enum verbs_soft_cm_reason {
  VERBS_SOFT_CM_NO_RESOURCES = 3,
  VERBS_SOFT_CM_TIMEOUT = 4,
  VERBS_SOFT_CM_INVALID_COMM_ID = 6,
  VERBS_SOFT_CM_INVALID_SERVICE_ID = 8,
  VERBS_SOFT_CM_STALE_CONNECTION = 10,
  VERBS_SOFT_CM_INVALID_MTU = 26, /* with the largest one of this side: the request comes again with that */
  VERBS_SOFT_CM_CONSUMER = 28,
  VERBS_SOFT_CM_VENDOR_OPTION = 35,
};

struct verbs_soft_cm_data {
  const void *bytes;
  uint32_t size;
};

struct verbs_soft_cm_path {
  uint8_t port_num;
  uint8_t traffic_class;
  uint8_t hop_limit;
  uint32_t flow_label;
  uint8_t sgid[16]; /* an address of the port */
  uint8_t dgid[16];
};

/* What a program chose a peer by: the IP addressing header. */
struct verbs_soft_cm_ip {
  uint16_t source_port;
  uint8_t source[16];
  uint8_t destination[16];
};

/* One end of a connection. */
struct verbs_soft_cm_end {
  uint32_t qp_num;
  uint32_t psn; /* of the first packet that the other end sends */
  uint8_t responder_resources;
  uint8_t initiator_depth;
  uint8_t flow_control;
  uint8_t rnr_retry_count;
  uint8_t srq;
  /* Extended connection establishment: 24 bits of a vendor, and its options. */
  uint32_t ece_vendor_id;
  uint32_t ece_options;
};

/* Transport service types (IBTA 12.6.5). The side that requests an XRC connection has the initiator, the other the
 * target queue pair. */
enum verbs_soft_cm_transport {
  VERBS_SOFT_CM_RC = 0,
  VERBS_SOFT_CM_UC = 1,
  VERBS_SOFT_CM_XRC = 3,
};

struct verbs_soft_cm_connect_attr {
  struct verbs_soft_cm_path path;
  struct verbs_soft_cm_ip ip;
  uint64_t service_id;
  struct verbs_soft_cm_end end;
  uint8_t retry_count;
  uint8_t path_mtu;    /* enum ibv_mtu */
  uint8_t ack_timeout; /* as of ibv_qp_attr.timeout */
  uint8_t transport;   /* enum verbs_soft_cm_transport; EINVAL for another */
  struct verbs_soft_cm_data data;
};

struct verbs_soft_cm_lookup_attr {
  struct verbs_soft_cm_path path;
  struct verbs_soft_cm_ip ip;
  uint64_t service_id;
  struct verbs_soft_cm_data data;
};

enum verbs_soft_cm_event_type {
  VERBS_SOFT_CM_REQUEST,      /* to a listener: a peer wants to connect (REQ) */
  VERBS_SOFT_CM_LOOKUP,       /* to a listener: a peer asks for the datagram service (SIDR_REQ) */
  VERBS_SOFT_CM_REPLY,        /* the peer has accepted (REP): ready() is next */
  VERBS_SOFT_CM_READY,        /* the connection stands (RTU) */
  VERBS_SOFT_CM_REJECTED,     /* status: the reason */
  VERBS_SOFT_CM_UNREACHABLE,  /* the peer does not answer */
  VERBS_SOFT_CM_DISCONNECTED, /* the peer disconnects, or has done so at last; status: 0, or ETIMEDOUT */
  VERBS_SOFT_CM_TIMEWAIT_EXIT,
  VERBS_SOFT_CM_LOOKUP_REPLY, /* status: 0, or that of the SIDR_REP */
};

/* Valid during the call. */
struct verbs_soft_cm_event {
  enum verbs_soft_cm_event_type type;
  uint32_t connection;
  int status;
  struct verbs_soft_cm_path path; /* of REQUEST and LOOKUP: from here to the peer */
  struct verbs_soft_cm_ip ip;     /* of REQUEST and LOOKUP: the peer is the source */
  struct verbs_soft_cm_end end;   /* of REQUEST and REPLY: the peer's; depth and resources are its own */
  uint64_t service_id;
  uint8_t retry_count;
  uint8_t path_mtu; /* of REQUEST and REPLY: what both ends can do, at most what was asked for */
  uint8_t ack_timeout;
  uint8_t transport; /* of REQUEST: enum verbs_soft_cm_transport */
  uint32_t qp_num;   /* of LOOKUP_REPLY */
  uint32_t qkey;
  struct verbs_soft_cm_data data; /* the whole field of the message: its end is not marked */
};

/* Called under the device's lock: must not call verbs or functions of this table. The result is the owner of the new
 * connection of REQUEST and LOOKUP; NULL rejects it. */
typedef void *(*verbs_soft_cm_callback)(void *owner, const struct verbs_soft_cm_event *event);

struct verbs_soft_cm_listen_attr {
  uint64_t service_id;
  uint8_t address[16]; /* zeros: every address */
  uint8_t families;    /* 4: IPv4 requests only; 6: IPv6; 0: both */
  uint8_t datagrams;   /* not 0: takes lookups; 0: takes connections */
};

/* States of a program's identifier, by the kernel's numbers (enum rdma_cm_state). */
enum verbs_soft_cm_id_state {
  VERBS_SOFT_CM_ID_ADDR_RESOLVED = 2,
  VERBS_SOFT_CM_ID_ROUTE_RESOLVED = 4,
  VERBS_SOFT_CM_ID_CONNECT = 5, /* also when connected */
  VERBS_SOFT_CM_ID_DISCONNECT = 6,
  VERBS_SOFT_CM_ID_ADDR_BOUND = 7,
  VERBS_SOFT_CM_ID_LISTEN = 8,
};

/* A program's identifier at a device, as other processes see it by rdma(8): "rdma resource show cm_id". */
struct verbs_soft_cm_id {
  uint8_t state;                  /* enum verbs_soft_cm_id_state */
  uint8_t port_num;               /* 0: every port */
  uint8_t qp_type;                /* enum ibv_qp_type */
  uint32_t qp_num;                /* 0: the peer has not been told of one */
  uint32_t port_space;            /* enum rdma_port_space */
  struct sockaddr_storage source; /* ss_family 0: none yet */
  struct sockaddr_storage destination;
};

struct verbs_soft_cm_table {
  uint32_t version;

  /* The port and GID index of an address of the device, which the program uses from now on; or of the first address of
   * that family ("like" may be any address). EADDRNOTAVAIL; EADDRINUSE: another user has it. */
  int (*find_address)(struct ibv_context *context, const uint8_t gid[16], uint8_t *port_num, uint32_t *index);
  int (*address_like)(struct ibv_context *context, const uint8_t like[16], uint8_t gid[16]);
  /* Whether the network leads from an address of the port to that one: 0, or ENETUNREACH. EADDRNOTAVAIL: it is none.
   * path_mtu: of the way (enum ibv_mtu), at most the port's active MTU. */
  int (*reach)(struct ibv_context *context, uint8_t port_num, const uint8_t sgid[16], const uint8_t dgid[16],
               uint8_t *path_mtu);

  /* From now on the callback gets the requests for a service. EADDRINUSE. */
  int (*listen)(struct ibv_context *context, const struct verbs_soft_cm_listen_attr *attr,
                verbs_soft_cm_callback callback, void *owner, uint32_t *listener);
  void (*unlisten)(struct ibv_context *context, uint32_t listener);

  /* Sends a request (REQ); the outcome is an event. EADDRNOTAVAIL: the path does not begin here. ENOMEM: too many
   * connections. EINVAL: too much private data. */
  int (*connect)(struct ibv_context *context, const struct verbs_soft_cm_connect_attr *attr,
                 verbs_soft_cm_callback callback, void *owner, uint32_t *connection);
  int (*accept)(struct ibv_context *context, uint32_t connection, const struct verbs_soft_cm_end *end,
                struct verbs_soft_cm_data data);
  /* After REPLY: the connection stands on this side, and the peer is told. */
  int (*ready)(struct ibv_context *context, uint32_t connection, struct verbs_soft_cm_data data);
  /* Of a request, or of a reply. A request of one's own is withdrawn: its peer hears of it when it accepts. */
  int (*reject)(struct ibv_context *context, uint32_t connection, int reason, struct verbs_soft_cm_data data);
  /* A packet of the peer arrived before its RTU: the connection stands. */
  int (*establish)(struct ibv_context *context, uint32_t connection);
  /* Ends a connection, or confirms the peer's end of it. */
  int (*disconnect)(struct ibv_context *context, uint32_t connection, struct verbs_soft_cm_data data);

  /* Asks for a datagram service (SIDR_REQ); the outcome is an event. */
  int (*lookup)(struct ibv_context *context, const struct verbs_soft_cm_lookup_attr *attr,
                verbs_soft_cm_callback callback, void *owner, uint32_t *connection);
  /* Answers a LOOKUP. status: 0, or that of the SIDR_REP. */
  int (*answer)(struct ibv_context *context, uint32_t connection, int status, uint32_t qp_num, uint32_t qkey,
                struct verbs_soft_cm_data data);

  /* The owner forgets the connection, in any state: rejects or ends it if need be. No callback after this returns. */
  void (*release)(struct ibv_context *context, uint32_t connection);

  /* Other processes see the identifier, or its new state, from now on until hide(). `key` is any address of its own.
   * ENOMEM: they see what was before. */
  int (*show)(struct ibv_context *context, const void *key, const struct verbs_soft_cm_id *id);
  void (*hide)(struct ibv_context *context, const void *key);
};

#define VERBS_SOFT_CM_VERSION 6

#ifdef __cplusplus
}
#endif

#endif
