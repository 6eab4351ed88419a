/*
 * How the software model of a vendor's device plugs into the software NIC of @verbs/soft.
 *
 * A model is a shared library (our libmlx5, libhbl, …) that links nothing of @verbs/soft. It is handed the function
 * verbs_soft_extension(), or looks it up in the libibverbs that is loaded, and registers the kind of device it models:
 *
 *   const struct verbs_soft_extension_table *soft = verbs_soft_extension(VERBS_SOFT_EXTENSION_VERSION);
 *   if (soft) soft->register_model(&model);
 *
 * From then on the devices of the configuration with that kind are listed by ibv_get_device_list().
 * A library named by the option "model=PATH" of a device is loaded by the NIC, which then calls its function
 * verbs_soft_model_load() (see below).
 *
 * Calls that can fail return 0 or a positive errno value. Strings of a model must stay valid for ever.
 */
#ifndef VERBS_SOFT_EXTENSION_H
#define VERBS_SOFT_EXTENSION_H

#include <infiniband/verbs.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VERBS_SOFT_EXTENSION_VERSION 3

/* What a device says of itself; ibv_device_attr and the files of its ibdev_path show it. */
struct verbs_soft_identity {
  uint32_t vendor_id;
  uint32_t vendor_part_id;
  uint32_t hw_ver;
  const char *fw_ver;   /* at most 63 characters */
  const char *board_id; /* at most 63 characters */
  const char *hca_type; /* at most 63 characters */
};

/* An Ethernet frame, from the destination address on and without the checksum at its end. Headers are put on, taken off
 * and changed in place: moving `data` and changing `size` keeps their sum within the room, and headroom and tailroom
 * right. */
struct verbs_soft_frame {
  uint8_t *data;
  uint32_t size;     /* bytes */
  uint32_t headroom; /* bytes before `data`; VERBS_SOFT_FRAME_HEADROOM at first */
  uint32_t tailroom; /* bytes behind */
};

#define VERBS_SOFT_FRAME_MIN 14
#define VERBS_SOFT_FRAME_MAX 4608 /* what transmit_frame() takes, whatever the port's MTU */
#define VERBS_SOFT_FRAME_HEADROOM 1024

/* What a received frame's completion says beside its length. */
struct verbs_soft_delivery {
  uint32_t flow_tag; /* its low 24 bits: ibv_wc_read_flow_tag() */
  uint32_t wc_flags; /* of enum ibv_wc_flags: IBV_WC_IP_CSUM_OK */
  uint16_t cvlan;    /* the tag that was taken off, 0 without one: ibv_wc_read_cvlan() */
};

struct verbs_soft_model {
  const char *kind;                /* the value of the option "kind", for example "mlx5" */
  const char *default_device;      /* configuration text of the device for who has configured none, "mlx5_soft0" */
  const char *defaults;            /* options that every device of this kind starts with, "ports=2"; may be NULL */
  const char *const *option_names; /* further options that the model knows, NULL-terminated; may be NULL */
  void *data;                      /* handed back in every call */

  /* Each of these may be NULL. */

  /* A device of this kind became known: fill in its identity, and the fields of ibv_device that differ. An error
   * leaves the device out of the list. */
  int (*init_device)(void *data, struct ibv_device *device, struct verbs_soft_identity *identity);
  /* A context was set up and is about to be returned by ibv_open_device(): replace entries of its ops or of its
   * verbs_context. An error makes ibv_open_device() fail with it. */
  int (*open_context)(void *data, struct ibv_context *context);
  /* The context is about to be freed, with everything in it. */
  void (*close_context)(void *data, struct ibv_context *context);
  /* A frame (IP header first) leaves or enters a port. May rewrite it in place, up to `capacity` bytes; returns its
   * new size, 0 to drop it. Called under the device's lock: must not call verbs. */
  uint32_t (*egress)(void *data, struct ibv_device *device, uint8_t port_num, uint8_t *frame, uint32_t size,
                     uint32_t capacity);
  uint32_t (*ingress)(void *data, struct ibv_device *device, uint8_t port_num, uint8_t *frame, uint32_t size,
                      uint32_t capacity);

  /* Before ibv_open_device() makes a context: an open one that it shall return again, or NULL for a new one. */
  struct ibv_context *(*reopen_context)(void *data, struct ibv_device *device);
  /* Before ibv_close_device() frees a context: not 0 keeps it open. */
  int (*keep_context)(void *data, struct ibv_context *context);
  /* Not 0: open_tunnel() may be called for devices of this kind. */
  int tunnels;

  /* Raw packets: with both of these, devices of this kind have queue pairs of type IBV_QPT_RAW_PACKET, and each of
   * their ports is a port of an Ethernet switch in this process. Both run under the device's lock, on whichever thread
   * makes its progress, also before the first context is opened and after the last is closed: they must not call verbs,
   * nor anything else that takes that lock. They call transmit_frame() and deliver_frame() as often as they like, and
   * what they do not pass on is gone. The frame is theirs until they return.
   *
   * A queue pair of the device sends a frame of 14 bytes up to the port's frame limit. */
  void (*raw_send)(void *data, struct ibv_device *device, uint8_t port_num, struct ibv_qp *qp,
                   struct verbs_soft_frame *frame);
  /* A frame of 14 bytes or more arrives at a port that is up. */
  void (*raw_receive)(void *data, struct ibv_device *device, uint8_t port_num, struct verbs_soft_frame *frame);
  /* enum ibv_raw_packet_caps: what ibv_query_device_ex() shows. With IBV_RAW_PACKET_CAP_IP_CSUM the NIC fills in the
   * checksums of IP, TCP and UDP before raw_send() if IBV_SEND_IP_CSUM asks for it (else that is EINVAL), and the model
   * says IBV_WC_IP_CSUM_OK of what it delivers. */
  uint32_t raw_packet_caps;
};

/* Control verbs of a context. The functions of those names call them. In open_context() a model may put its own in
 * their place; the NIC's own, which are there before, are for it to call. */
struct verbs_soft_verbs {
  int (*query_device)(struct ibv_context *context, struct ibv_device_attr *attr);
  struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
  struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access);
  struct ibv_ah *(*create_ah)(struct ibv_pd *pd, struct ibv_ah_attr *attr);
  struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
                              int comp_vector);
  int (*destroy_cq)(struct ibv_cq *cq);
  struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
  int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
  int (*destroy_qp)(struct ibv_qp *qp);
};

/* A tunnel puts a header of the user's between the network headers and the BTH of a queue pair's packets, and takes it
 * off where the receiving queue pair has such a tunnel too. The ICRC covers the outer headers and everything from the
 * BTH on. Tunnels are for RC queue pairs with IPv4 addresses. */
enum verbs_soft_tunnel_type {
  VERBS_SOFT_TUNNEL_PLAIN = 0, /* plain RoCE v2, only with a source address of its own */
  VERBS_SOFT_TUNNEL_IPV4 = 1,  /* IPv4 with a protocol number, header, BTH … */
  VERBS_SOFT_TUNNEL_UDP = 2,   /* IPv4, UDP to a port, header, BTH … */
};

/* The requester of a queue pair and its responder may travel differently. */
enum verbs_soft_tunnel_half { VERBS_SOFT_TUNNEL_REQUESTS, VERBS_SOFT_TUNNEL_RESPONSES };

#define VERBS_SOFT_TUNNEL_HEADER_MAX 64

struct verbs_soft_tunnel_attr {
  uint8_t port_num; /* from 1 */
  uint8_t type;     /* enum verbs_soft_tunnel_type */
  uint8_t ip_protocol;
  uint8_t header_size; /* bytes */
  uint16_t udp_port;   /* host byte order */
  uint8_t source[4];   /* the outer source address as it stands in the packet; zeros: the port's own */
  uint8_t header[VERBS_SOFT_TUNNEL_HEADER_MAX];
};

struct verbs_soft_tunnel;

/* The objects that a model can hang data of its own on. */
enum verbs_soft_object {
  VERBS_SOFT_CONTEXT,
  VERBS_SOFT_PD,
  VERBS_SOFT_MR,
  VERBS_SOFT_CQ,
  VERBS_SOFT_QP,
};

struct verbs_soft_extension_table {
  uint32_t version;
  /* 0 for a model that is registered already; EEXIST if its kind has another one. */
  int (*register_model)(const struct verbs_soft_model *model);
  /* Adds the model's default device unless one of this kind is configured. ENODEV if there is no such model. */
  int (*ensure_device)(const char *kind);
  /* The kind of a device; NULL if the device is not one of the software NIC. */
  const char *(*device_kind)(const struct ibv_device *device);
  /* The value of one of the model's own options; NULL if it was not given. */
  const char *(*device_option)(const struct ibv_device *device, const char *key);
  /* One pointer for every object of those kinds in a soft context. `release` (may be NULL) is called when the object
   * goes. */
  void (*set_data)(void *object, enum verbs_soft_object type, void *data, void (*release)(void *data));
  void *(*get_data)(void *object, enum verbs_soft_object type);

  /* ibv_open_device(): NULL and errno. */
  struct ibv_context *(*open_device)(struct ibv_device *device);
  struct verbs_soft_verbs *(*verbs)(struct ibv_context *context);
  /* Queues an asynchronous event about a QP, a CQ, a port or the device. */
  void (*raise_event)(struct ibv_context *context, const struct ibv_async_event *event);

  /* From now on the port takes packets of that tunnel in. EINVAL, EADDRNOTAVAIL (the source is no address of this
   * machine), EADDRINUSE (the UDP port is taken), EPERM (an IPv4 tunnel to other processes needs CAP_NET_RAW, if the
   * device is configured with link=udp); verbs_soft_last_error() has the words. */
  int (*open_tunnel)(struct ibv_context *context, const struct verbs_soft_tunnel_attr *attr,
                     struct verbs_soft_tunnel **tunnel);
  /* Packets of queue pairs that still use it go nowhere. */
  void (*close_tunnel)(struct ibv_context *context, struct verbs_soft_tunnel *tunnel);
  /* By which tunnel a queue pair sends its requests, or its responses, and expects what belongs to them from the other
   * side; NULL: plain RoCE v2. EOPNOTSUPP if it is not RC. */
  int (*set_qp_tunnel)(struct ibv_qp *qp, enum verbs_soft_tunnel_half half, const struct verbs_soft_tunnel *tunnel);
  /* Gives a queue pair in RESET a number of the model's choice, so that its peers know it beforehand. EINVAL if it is
   * below 17 plus the device's max_qp, above 0xfffffe, or the queue pair is in another state; EADDRINUSE if it is
   * taken. */
  int (*set_qp_num)(struct ibv_qp *qp, uint32_t qp_num);

  /* -- raw packets. The first two are for raw_send() and raw_receive(), and EPERM elsewhere.
   * Sends a frame from a port of the device that is at work. It is copied. EINVAL: no such port; EMSGSIZE: shorter than
   * 14 bytes or longer than VERBS_SOFT_FRAME_MAX. What gets lost on its way is counted, and no error. */
  int (*transmit_frame)(struct ibv_device *device, uint8_t port_num, const struct verbs_soft_frame *frame);
  /* Gives a frame to a RAW_PACKET queue pair of the device that is at work: copied to its next receive request.
   * EPERM, too, if it is another device's; EINVAL: of another type; EMSGSIZE: longer than VERBS_SOFT_FRAME_MAX. A queue
   * pair that does not receive, or has no request posted, loses it; that is counted (out_of_buffer), and no error. */
  int (*deliver_frame)(struct ibv_qp *qp, const struct verbs_soft_frame *frame,
                       const struct verbs_soft_delivery *delivery);
  /* The longest frame of a port: 18 bytes more than its active MTU, or than 1500 if that is more. Under the lock. */
  uint32_t (*frame_limit)(struct ibv_device *device, uint8_t port_num);
  /* What raw_send() and raw_receive() read is changed between these two; verbs must not be called there. Frames that
   * have arrived before are received first. EIO in a forked child, whose device stayed with the parent: then the lock
   * is not taken. */
  int (*lock_device)(struct ibv_context *context);
  void (*unlock_device)(struct ibv_context *context);
  /* The address of a port: locally administered, unique to the process and the port. EINVAL: no such port. */
  int (*port_mac)(const struct ibv_device *device, uint8_t port_num, uint8_t mac[6]);
  /* Whether a RAW_PACKET queue pair is given frames that its own port sent to that port's own address. Not, at first.
   */
  int (*set_self_loopback)(struct ibv_qp *qp, int allowed);
  /* A counter of the model's own among those of verbs_soft_stats(), for it to count up in raw_send() and raw_receive(),
   * or with the device locked. Only in init_device(); lives as long as the process. The same again for the same name.
   */
  uint64_t *(*counter)(struct ibv_device *device, const char *name);
};

/* The table of `version`, or NULL if this NIC does not have that version. */
const struct verbs_soft_extension_table *verbs_soft_extension(uint32_t version);

/* What a library named by "model=PATH" exports: registers its model by `extension`. 0 or a positive errno value. */
typedef const struct verbs_soft_extension_table *(*verbs_soft_extension_function)(uint32_t version);
int verbs_soft_model_load(verbs_soft_extension_function extension);

#ifdef __cplusplus
}
#endif

#endif
