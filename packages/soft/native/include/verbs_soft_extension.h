/*
 * How the software model of a vendor's device plugs into the software NIC of @verbs/soft.
 *
 * A model is a shared library (our libmlx5, libhbl, …) that links nothing of @verbs/soft. It gets the function
 * verbs_soft_extension() from its loader, or finds it in the loaded libibverbs, and registers a kind of device:
 *
 *   const struct verbs_soft_extension_table *soft = verbs_soft_extension(VERBS_SOFT_EXTENSION_VERSION);
 *   if (soft) soft->register_model(&model);
 *
 * From then on ibv_get_device_list() lists the configured devices of that kind. The NIC loads a library that a device
 * names by the option "model=PATH" and calls its function verbs_soft_model_load() (see below).
 *
 * Calls that can fail return 0 or a positive errno value. Strings of a model must stay valid until the process ends.
 */
#ifndef VERBS_SOFT_EXTENSION_H
#define VERBS_SOFT_EXTENSION_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VERBS_SOFT_EXTENSION_VERSION 12

/* The identity of a device, in ibv_device_attr and in the files of its ibdev_path. */
struct verbs_soft_identity {
  uint32_t vendor_id;
  uint32_t vendor_part_id;
  uint32_t hw_ver;
  const char *fw_ver;   /* at most 63 characters */
  const char *board_id; /* at most 63 characters */
  const char *hca_type; /* at most 63 characters */
  /* Of the device's place on the PCI bus in /sys, which is none of a card's; 0: it is on no bus. */
  uint16_t pci_vendor;
  uint16_t pci_device;
};

/* An Ethernet frame, from the destination address on, without the frame check sequence. Headers are added, removed and
 * changed in place: a change of `data` or `size` also changes `headroom` and `tailroom`, so that the sum of the
 * three sizes stays the same. */
struct verbs_soft_frame {
  uint8_t *data;
  uint32_t size;     /* bytes */
  uint32_t headroom; /* bytes before `data`; VERBS_SOFT_FRAME_HEADROOM at first */
  uint32_t tailroom; /* bytes behind */
};

#define VERBS_SOFT_FRAME_MIN 14
#define VERBS_SOFT_FRAME_MAX 4608 /* the limit of transmit_frame(), for every MTU */
#define VERBS_SOFT_FRAME_HEADROOM 1024

/* The fields of a received frame's completion beside its length. */
struct verbs_soft_delivery {
  uint32_t flow_tag; /* its low 24 bits: ibv_wc_read_flow_tag() */
  uint32_t wc_flags; /* of enum ibv_wc_flags: IBV_WC_IP_CSUM_OK */
  uint16_t cvlan;    /* the VLAN tag that was removed, 0 without one: ibv_wc_read_cvlan() */
};

/* Where the locks of a model stand in the lock order of the process. */
enum verbs_soft_lock_rank {
  VERBS_SOFT_LOCK_OUTER, /* taken before every lock of the NIC: held while the model calls verbs */
  VERBS_SOFT_LOCK_INNER  /* taken after them, for example in the NIC's calls of the model: no verb is called under it */
};

struct verbs_soft_model {
  const char *kind;                /* the value of the option "kind", for example "mlx5" */
  const char *default_device;      /* configuration text of the device when none is configured, "mlx5_soft0" */
  const char *defaults;            /* options that every device of this kind starts with, "ports=2"; may be NULL */
  const char *const *option_names; /* further options that the model knows, NULL-terminated; may be NULL */
  void *data;                      /* the first argument of every call */

  /* Each of these may be NULL. */

  /* A device of this kind is listed for the first time: fill in its identity, and the fields of ibv_device that differ.
   * An error leaves the device out of the list. */
  int (*init_device)(void *data, struct ibv_device *device, struct verbs_soft_identity *identity);
  /* ibv_open_device() is about to return a context: replace entries of its ops or of its verbs_context. An error is the
   * error of ibv_open_device(). */
  int (*open_context)(void *data, struct ibv_context *context);
  /* The context is about to be freed, with all its objects. */
  void (*close_context)(void *data, struct ibv_context *context);
  /* A frame (IP header first) leaves or enters a port. The model may rewrite it in place, up to `capacity` bytes, and
   * returns its new size, or 0 to drop it. Called under the device's lock: must not call verbs. */
  uint32_t (*egress)(void *data, struct ibv_device *device, uint8_t port_num, uint8_t *frame, uint32_t size,
                     uint32_t capacity);
  uint32_t (*ingress)(void *data, struct ibv_device *device, uint8_t port_num, uint8_t *frame, uint32_t size,
                      uint32_t capacity);
  /* Not 0: the two only look. They are called while watch_frames() asks for it, and return the size that they got or 0.
   * A device whose model has them without this has its addresses for itself, and all its frames as packets. */
  int only_watches;

  /* Called at the start of ibv_open_device(): returns an open context to return again, or NULL for a new one. */
  struct ibv_context *(*reopen_context)(void *data, struct ibv_device *device);
  /* Called at the start of ibv_close_device(): a result other than 0 keeps the context open. */
  int (*keep_context)(void *data, struct ibv_context *context);
  /* Not 0: the model calls open_tunnel() for devices of this kind. */
  int tunnels;

  /* Raw packets: with both of these, devices of this kind have queue pairs of type IBV_QPT_RAW_PACKET, and each of
   * their ports is a port of an Ethernet switch in this process. Both run under the device's lock, on the thread that
   * makes its progress, also before open_context() and after close_context(). They must not call verbs or any other
   * function that takes the lock. They may call transmit_frame() and deliver_frame() any number of times; a frame that
   * they do not pass on is dropped. They may change the frame until they return.
   *
   * raw_send(): a queue pair of the device sends a frame of 14 bytes up to the port's frame limit. */
  void (*raw_send)(void *data, struct ibv_device *device, uint8_t port_num, struct ibv_qp *qp,
                   struct verbs_soft_frame *frame);
  /* raw_receive(): a frame of 14 bytes or more arrives at a port that is up. */
  void (*raw_receive)(void *data, struct ibv_device *device, uint8_t port_num, struct verbs_soft_frame *frame);
  /* enum ibv_raw_packet_caps, for ibv_query_device_ex(). With IBV_RAW_PACKET_CAP_IP_CSUM the NIC fills in the checksums
   * of IP, TCP and UDP before raw_send() for requests with IBV_SEND_IP_CSUM (EINVAL without the capability), and the
   * model sets IBV_WC_IP_CSUM_OK for the frames that it delivers. */
  uint32_t raw_packet_caps;
};

/* Control verbs of a context, which the exported functions of those names call. In open_context() a model may replace
 * them; it may save and call the NIC's own functions, which they are at that time. */
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

/* A tunnel adds a header of the user's choice between the network headers and the BTH of a queue pair's packets. It is
 * removed if the receiving queue pair has such a tunnel, too. The ICRC covers the outer headers and everything from the
 * BTH on, but not the tunnel header. Tunnels are for RC queue pairs with IPv4 addresses. */
enum verbs_soft_tunnel_type {
  VERBS_SOFT_TUNNEL_PLAIN = 0, /* plain RoCE v2 with another source address */
  VERBS_SOFT_TUNNEL_IPV4 = 1,  /* IPv4 with a protocol number, header, BTH … */
  VERBS_SOFT_TUNNEL_UDP = 2,   /* IPv4, UDP to a port, header, BTH … */
};

/* The requester and the responder of a queue pair may have different tunnels. */
enum verbs_soft_tunnel_half { VERBS_SOFT_TUNNEL_REQUESTS, VERBS_SOFT_TUNNEL_RESPONSES };

#define VERBS_SOFT_TUNNEL_HEADER_MAX 64

struct verbs_soft_tunnel_attr {
  uint8_t port_num; /* from 1 */
  uint8_t type;     /* enum verbs_soft_tunnel_type */
  uint8_t ip_protocol;
  uint8_t header_size; /* bytes */
  uint16_t udp_port;   /* host byte order */
  uint8_t source[4];   /* the outer source address, network byte order; zeros: the port's own */
  uint8_t header[VERBS_SOFT_TUNNEL_HEADER_MAX];
};

struct verbs_soft_tunnel;
struct verbs_soft_cm_table;

/* The types of objects. A model can store data for the first five. */
enum verbs_soft_object {
  VERBS_SOFT_CONTEXT,
  VERBS_SOFT_PD,
  VERBS_SOFT_MR,
  VERBS_SOFT_CQ,
  VERBS_SOFT_QP,
  VERBS_SOFT_SRQ,
  VERBS_SOFT_AH,
  VERBS_SOFT_MW,
  VERBS_SOFT_DM,
  VERBS_SOFT_TD,
  VERBS_SOFT_XRCD,
  VERBS_SOFT_CHANNEL,
};

/* An object that a program passed to a function of the model: an address that need not be one. */
struct verbs_soft_use {
  enum verbs_soft_object type;
  const void *object;
};

/* A fault (SIGSEGV, SIGBUS) at an address of a watched range. Runs in the signal handler of the thread that faulted, on
 * its alternate stack if it has one, with the program's signals blocked: must be async-signal-safe. `info` is the
 * siginfo_t, `context` the ucontext_t, whose changes take effect on return. A result other than 0: the thread goes on
 * at `context`. 0: the fault is passed on to the handler of the program. */
typedef int (*verbs_soft_fault_handler)(void *data, void *info, void *context);

struct verbs_soft_extension_table {
  uint32_t version;
  /* 0, also if the model is registered already; EEXIST if its kind has another model. */
  int (*register_model)(const struct verbs_soft_model *model);
  /* Adds the model's default device unless a device of this kind is configured. ENODEV if there is no such model. */
  int (*ensure_device)(const char *kind);
  /* The kind of a device; NULL if it is not a device of the software NIC. */
  const char *(*device_kind)(const struct ibv_device *device);
  /* The value of one of the model's own options; NULL if it is not given. */
  const char *(*device_option)(const struct ibv_device *device, const char *key);
  /* Looks up, at the start of a function of the model, the objects that the program passed to it, and calls call(data)
   * while they are held: another thread that destroys one gets EBUSY, one that closes their context waits. An object is
   * live if it has this address and type, and still has the context and the handle that it was given; other memory is
   * not read. 0; or, without a call, EOPNOTSUPP: a context is not live; EINVAL: another object is not, or there are
   * more than 8; EBUSY: another thread destroys it. In C++ use verbs_soft_objects.h. */
  int (*with_objects)(const struct verbs_soft_use *uses, size_t count, void (*call)(void *data), void *data);
  /* One pointer for every object of those types in a soft context. `release` (may be NULL) is called when the object is
   * destroyed. */
  void (*set_data)(void *object, enum verbs_soft_object type, void *data, void (*release)(void *data));
  void *(*get_data)(void *object, enum verbs_soft_object type);

  /* ibv_open_device(): NULL and errno. */
  struct ibv_context *(*open_device)(struct ibv_device *device);
  /* ibv_reg_dmabuf_mr(): NULL and errno. */
  struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access);
  struct verbs_soft_verbs *(*verbs)(struct ibv_context *context);
  /* Queues an asynchronous event about a QP, a CQ, a port or the device. */
  void (*raise_event)(struct ibv_context *context, const struct ibv_async_event *event);

  /* From now on the port receives packets of that tunnel. EINVAL, EADDRNOTAVAIL (the source is no address of this
   * machine), EADDRINUSE (the UDP port is taken), EPERM (an IPv4 tunnel needs CAP_NET_RAW if the device is configured
   * with link=udp); verbs_soft_last_error() has the text. */
  int (*open_tunnel)(struct ibv_context *context, const struct verbs_soft_tunnel_attr *attr,
                     struct verbs_soft_tunnel **tunnel);
  /* Packets of queue pairs that still use it are dropped. */
  void (*close_tunnel)(struct ibv_context *context, struct verbs_soft_tunnel *tunnel);
  /* The tunnel in which a queue pair sends its requests (or its responses) and receives the packets that belong to
   * them; NULL: plain RoCE v2. EOPNOTSUPP if the queue pair is not RC. */
  int (*set_qp_tunnel)(struct ibv_qp *qp, enum verbs_soft_tunnel_half half, const struct verbs_soft_tunnel *tunnel);
  /* Sets the number of a queue pair in RESET, so that its peers know the number beforehand. EINVAL if it is below 17
   * plus the device's max_qp or above 0xfffffe, or if the queue pair is in another state; EADDRINUSE if it is taken. */
  int (*set_qp_num)(struct ibv_qp *qp, uint32_t qp_num);
  /* The UDP source port of the packets of an RC or UC queue pair in RTS, until it is connected again. EINVAL for
   * another one; EOPNOTSUPP: the device's link has one source port for all its packets. */
  int (*set_source_port)(struct ibv_qp *qp, uint16_t port);

  /* -- raw packets. The next two calls are for raw_send() and raw_receive(); elsewhere they fail with EPERM.
   * Sends a copy of a frame from a port of the device whose frame the model handles. EINVAL: no such port; EMSGSIZE:
   * shorter than 14 bytes or longer than VERBS_SOFT_FRAME_MAX. A frame that is lost later is counted, and no error. */
  int (*transmit_frame)(struct ibv_device *device, uint8_t port_num, const struct verbs_soft_frame *frame);
  /* Copies a frame to the next receive request of a RAW_PACKET queue pair of that device. EPERM, too, for a queue pair
   * of another device; EINVAL: of another type; EMSGSIZE: longer than VERBS_SOFT_FRAME_MAX. If the queue pair does not
   * receive or has no request posted, the frame is lost and counted (out_of_buffer), which is no error. */
  int (*deliver_frame)(struct ibv_qp *qp, const struct verbs_soft_frame *frame,
                       const struct verbs_soft_delivery *delivery);
  /* The same for a receive work queue (ibv_create_wq), which has no port. A queue pair that spreads its frames over
   * such queues gets them by deliver_frame(). */
  int (*deliver_to_wq)(struct ibv_wq *wq, const struct verbs_soft_frame *frame,
                       const struct verbs_soft_delivery *delivery);
  /* The longest frame of a port: 18 bytes more than its active MTU or 1500, whichever is more. Under the lock. */
  uint32_t (*frame_limit)(struct ibv_device *device, uint8_t port_num);
  /* Between these two the model changes what raw_send() and raw_receive() read; it must not call verbs there.
   * lock_device() first receives the frames that have arrived. EIO in a forked child, whose device stays with the
   * parent: then the lock is not taken. */
  int (*lock_device)(struct ibv_context *context);
  void (*unlock_device)(struct ibv_context *context);
  /* Frames of the device pass egress() and ingress() of its model from now on; with 0 they no longer do. EOPNOTSUPP:
   * the model is not one that `only_watches`; EIO in a forked child. */
  int (*watch_frames)(struct ibv_context *context, int watched);
  /* The address of a port: locally administered, unique to the process and the port. EINVAL: no such port. */
  int (*port_mac)(const struct ibv_device *device, uint8_t port_num, uint8_t mac[6]);
  /* Whether a RAW_PACKET queue pair receives frames that its port sent to the port's own address. 0 at first. */
  int (*set_self_loopback)(struct ibv_qp *qp, int allowed);
  /* A counter of the model, which verbs_soft_stats() reports. The model increments it in raw_send() and raw_receive(),
   * or with the device locked. For init_device() only. Valid until the process ends; one counter for each name. */
  uint64_t *(*counter)(struct ibv_device *device, const char *name);

  /* The connection manager (verbs_soft_cm.h): the table of that version, or NULL. */
  const struct verbs_soft_cm_table *(*connection_manager)(uint32_t version);

  /* -- faults. The NIC has the one fault handler of the process; a model must not install its own.
   * Gives the faults at [address, address + size) to `handler`. A thread that blocks SIGSEGV ends the process all the
   * same if it faults there. EINVAL: an empty range, or one that wraps around; EEXIST: it overlaps another one; ENOMEM:
   * there are 64 ranges. */
  int (*watch_faults)(void *address, size_t size, verbs_soft_fault_handler handler, void *data);
  /* Ends that for the range that begins at `address`. Not for the handler itself: waits for handlers that run. ENOENT.
   */
  int (*unwatch_faults)(const void *address);

  /* -- fork(). The locks of a model that the child must find free, in the one lock order of the process.
   * Registers handlers for the life of the process; any may be NULL. `prepare` takes locks before a fork, `parent`
   * gives them back, `child` makes them new and forgets what is the parent's. ENOMEM: the process has too many of them.
   */
  int (*at_fork)(enum verbs_soft_lock_rank rank, void (*prepare)(void), void (*parent)(void), void (*child)(void));

  /* A queue pair of the model's own, which the program does not know, raises no asynchronous events from now on. */
  int (*mute_events)(struct ibv_qp *qp);
};

/* The table of `version`, or NULL if this NIC does not have that version. */
const struct verbs_soft_extension_table *verbs_soft_extension(uint32_t version);

/* Promises that the memory of a region stays mapped, with the rights that the region needs, until the region ends or is
 * moved by ibv_rereg_mr(). For memory that the caller has mapped itself and gives to nobody who could unmap it. The NIC
 * then makes no system calls for its accesses. Otherwise it may have to ask for the thread's signal mask, since memory
 * that is gone is an error completion also where SIGSEGV is blocked. 0, or ENOENT if it is no region. */
int verbs_soft_keep_mapped(struct ibv_mr *mr);

/* Why the last request of a queue pair that completed with that status (enum ibv_wc_status) did so, in a sentence of at
 * most `size` bytes with its zero; of a request that the peer refused, what its end had against it, if that is at the
 * same device. ENOENT: nothing is known beyond the status. */
int verbs_soft_why(struct ibv_context *context, uint32_t qp_num, int status, char *text, size_t size);

/* The function that a library of "model=PATH" exports: registers its model by `extension`. 0 or a positive errno. */
typedef const struct verbs_soft_extension_table *(*verbs_soft_extension_function)(uint32_t version);
int verbs_soft_model_load(verbs_soft_extension_function extension);

#ifdef __cplusplus
}
#endif

#endif
