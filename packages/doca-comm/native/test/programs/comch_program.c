/* The two ends of Comch, as DOCA's samples are written: against the prototypes alone, with the arguments of
 * libdoca_argp.
 *
 *   comch_program --role server|client --mode control|fast --name NAME --count COUNT [--wait poll|epoll]
 *
 * control: the client sends COUNT messages of 1 to 4080 bytes, the server sends each back.
 * fast:    each end has a producer and a consumer, and sends COUNT messages of up to 1 MiB to the other.
 * Every byte is compared. It writes "running" when the other end may start, and "done" at the end. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "doca_argp.h"
#include "doca_buf_inventory.h"
#include "doca_comch.h"
#include "doca_comch_consumer.h"
#include "doca_comch_producer.h"
#include "doca_mmap.h"

enum { TASKS = 32, CONTROL_MAX = 4080, BUFFERS = 8, FAST_MAX = 1 << 20 };

static const char *host_pci = "5f5f:3b:00.0";
static const char *dpu_pci = "5f5f:03:00.0";

struct program {
  /* Arguments. */
  bool server, fast, epoll;
  char name[64];
  unsigned count;
  /* The control path. */
  struct doca_pe *pe;
  struct doca_dev *dev;
  struct doca_dev_rep *rep;
  struct doca_comch_server *as_server;
  struct doca_comch_client *as_client;
  struct doca_comch_connection *connection;
  struct doca_ctx *ctx;
  enum doca_ctx_states state;
  unsigned sent, received, lost; /* a server has sent as many answers */
  /* Slots of messages, each of which is in flight until its completion. */
  uint8_t messages[TASKS][CONTROL_MAX];
  bool used[TASKS];
  /* The fast path. */
  struct doca_comch_producer *producer;
  struct doca_comch_consumer *consumer;
  struct doca_ctx *producer_ctx, *consumer_ctx;
  struct doca_mmap *mmap;
  struct doca_buf_inventory *inventory;
  uint8_t *memory; /* BUFFERS to send, and BUFFERS to receive into */
  bool sending[BUFFERS];
  uint32_t remote_consumer;
  unsigned completed;
};
static struct program self;

#define TRY(call)                                                       \
  do {                                                                  \
    const doca_error_t result_ = (call);                                \
    if (result_ != DOCA_SUCCESS && result_ != DOCA_ERROR_IN_PROGRESS) { \
      fprintf(stderr, "%s: %s\n", #call, doca_error_get_name(result_)); \
      exit(1);                                                          \
    }                                                                   \
  } while (0)

static void fail(const char *what, unsigned number) {
  fprintf(stderr, "%s %u\n", what, number);
  exit(1);
}

static size_t size_of(unsigned number, size_t most) { return 1 + (size_t)number * 7919 % most; }

static void fill(uint8_t *data, unsigned number, size_t size) {
  for (size_t i = 0; i < size; ++i) data[i] = (uint8_t)(number * 31 + i * 7 + (i >> 8));
}

static void check(const uint8_t *data, unsigned number, size_t size, size_t most) {
  if (size != size_of(number, most)) fail("wrong size of message", number);
  for (size_t i = 0; i < size; ++i) {
    if (data[i] != (uint8_t)(number * 31 + i * 7 + (i >> 8))) fail("wrong byte in message", number);
  }
}

/* ---- the control path */

static void send_done(struct doca_comch_task_send *task, union doca_data data, union doca_data ctx) {
  (void)ctx;
  self.used[data.u64] = false;
  doca_task_free(doca_comch_task_send_as_task(task));
}

static void send_failed(struct doca_comch_task_send *task, union doca_data data, union doca_data ctx) {
  if (++self.lost == 1) {
    printf("send failed: %s\n", doca_error_get_name(doca_task_get_status(doca_comch_task_send_as_task(task))));
  }
  send_done(task, data, ctx);
}

/* False if the message has to wait. */
static bool send_message(unsigned number) {
  const size_t size = size_of(number, CONTROL_MAX);
  struct doca_comch_task_send *task;
  unsigned slot = 0;
  doca_error_t result;
  while (slot < TASKS && self.used[slot]) ++slot;
  if (slot == TASKS) return false;
  fill(self.messages[slot], number, size);
  result = self.server ? doca_comch_server_task_send_alloc_init(self.as_server, self.connection, self.messages[slot],
                                                                (uint32_t)size, &task)
                       : doca_comch_client_task_send_alloc_init(self.as_client, self.connection, self.messages[slot],
                                                                (uint32_t)size, &task);
  if (result == DOCA_ERROR_NO_MEMORY) return false;
  TRY(result);
  doca_task_set_user_data(doca_comch_task_send_as_task(task), (union doca_data){.u64 = slot});
  result = doca_task_submit(doca_comch_task_send_as_task(task));
  if (result == DOCA_ERROR_AGAIN) {
    doca_task_free(doca_comch_task_send_as_task(task));
    return false;
  }
  TRY(result);
  self.used[slot] = true;
  return true;
}

static void message_received(struct doca_comch_event_msg_recv *event, uint8_t *buffer, uint32_t length,
                             struct doca_comch_connection *connection) {
  (void)event;
  self.connection = connection;
  check(buffer, self.received, length, CONTROL_MAX);
  ++self.received;
}

static void connected(struct doca_comch_event_connection_status_changed *event,
                      struct doca_comch_connection *connection, uint8_t success) {
  (void)event;
  if (success) self.connection = connection;
}

static void disconnected(struct doca_comch_event_connection_status_changed *event,
                         struct doca_comch_connection *connection, uint8_t success) {
  (void)event, (void)success;
  printf("disconnected\n");
  if (connection == self.connection) self.connection = NULL;
  self.remote_consumer = 0;
}

static void new_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
                         uint32_t id) {
  (void)event, (void)connection;
  self.remote_consumer = id;
}

static void expired_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
                             uint32_t id) {
  (void)event, (void)connection;
  if (self.remote_consumer == id) self.remote_consumer = 0;
}

static void state_changed(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states previous,
                          enum doca_ctx_states next) {
  (void)data, (void)ctx, (void)previous;
  self.state = next;
}

static void open_device(void) {
  struct doca_devinfo **list;
  uint32_t count, i;
  TRY(doca_devinfo_create_list(&list, &count));
  for (i = 0; i < count; ++i) {
    uint8_t equal = 0;
    TRY(doca_devinfo_is_equal_pci_addr(list[i], self.server ? dpu_pci : host_pci, &equal));
    if (equal) TRY(doca_dev_open(list[i], &self.dev));
  }
  TRY(doca_devinfo_destroy_list(list));
  if (!self.dev) fail("no device", 0);
  if (self.server) {
    struct doca_devinfo_rep **reps;
    TRY(doca_devinfo_rep_create_list(self.dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &count));
    if (count == 0) fail("no representor", 0);
    TRY(doca_dev_rep_open(reps[0], &self.rep));
    TRY(doca_devinfo_rep_destroy_list(reps));
  }
}

static void open_control(void) {
  TRY(doca_pe_create(&self.pe));
  if (self.server) {
    TRY(doca_comch_server_create(self.dev, self.rep, self.name, &self.as_server));
    TRY(doca_comch_server_set_max_msg_size(self.as_server, CONTROL_MAX));
    TRY(doca_comch_server_set_recv_queue_size(self.as_server, 10));
    TRY(doca_comch_server_task_send_set_conf(self.as_server, send_done, send_failed, TASKS));
    TRY(doca_comch_server_event_msg_recv_register(self.as_server, message_received));
    TRY(doca_comch_server_event_connection_status_changed_register(self.as_server, connected, disconnected));
    TRY(doca_comch_server_event_consumer_register(self.as_server, new_consumer, expired_consumer));
    self.ctx = doca_comch_server_as_ctx(self.as_server);
  } else {
    TRY(doca_comch_client_create(self.dev, self.name, &self.as_client));
    TRY(doca_comch_client_set_max_msg_size(self.as_client, CONTROL_MAX));
    TRY(doca_comch_client_set_recv_queue_size(self.as_client, 10));
    TRY(doca_comch_client_task_send_set_conf(self.as_client, send_done, send_failed, TASKS));
    TRY(doca_comch_client_event_msg_recv_register(self.as_client, message_received));
    TRY(doca_comch_client_event_consumer_register(self.as_client, new_consumer, expired_consumer));
    self.ctx = doca_comch_client_as_ctx(self.as_client);
  }
  TRY(doca_ctx_set_state_changed_cb(self.ctx, state_changed));
  TRY(doca_pe_connect_ctx(self.pe, self.ctx));
  TRY(doca_ctx_start(self.ctx));
}

/* ---- waiting */

static void turn(void) {
  static int set = -1, handle;
  struct epoll_event event = {.events = EPOLLIN};
  if (doca_pe_progress(self.pe) || !self.epoll) return;
  if (set < 0) {
    set = epoll_create1(0);
    TRY(doca_pe_get_notification_handle(self.pe, &handle));
    if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, handle, &event) != 0) fail("epoll", (unsigned)errno);
  }
  TRY(doca_pe_request_notification(self.pe));
  /* Without a bound, and with one that is never reached: a lost wake-up ends the program. */
  if (!doca_pe_progress(self.pe) && epoll_wait(set, &event, 1, 20000) == 0) fail("nothing woke the program", self.sent);
  TRY(doca_pe_clear_notification(self.pe, handle));
}

/* ---- the fast path */

static unsigned number_of(const uint8_t *imm) {
  unsigned number;
  memcpy(&number, imm, sizeof number);
  return number;
}

static void bulk_sent(struct doca_comch_producer_task_send *task, union doca_data data, union doca_data ctx) {
  (void)ctx;
  TRY(doca_buf_dec_refcount((struct doca_buf *)doca_comch_producer_task_send_get_buf(task), NULL));
  self.sending[data.u64] = false;
  ++self.completed;
  doca_task_free(doca_comch_producer_task_send_as_task(task));
}

static void bulk_failed(struct doca_comch_producer_task_send *task, union doca_data data, union doca_data ctx) {
  if (++self.lost == 1) {
    printf("send failed: %s\n", doca_error_get_name(doca_task_get_status(doca_comch_producer_task_send_as_task(task))));
  }
  bulk_sent(task, data, ctx);
}

static void receive_failed(struct doca_comch_consumer_task_post_recv *task, union doca_data data, union doca_data ctx) {
  (void)data, (void)ctx;
  TRY(doca_buf_dec_refcount(doca_comch_consumer_task_post_recv_get_buf(task), NULL));
  doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void bulk_received(struct doca_comch_consumer_task_post_recv *task, union doca_data data, union doca_data ctx) {
  struct doca_buf *buf = doca_comch_consumer_task_post_recv_get_buf(task);
  void *bytes;
  size_t size;
  TRY(doca_buf_get_data(buf, &bytes));
  TRY(doca_buf_get_data_len(buf, &size));
  if (doca_comch_consumer_task_post_recv_get_imm_data_len(task) != sizeof(unsigned)) fail("no number", self.received);
  if (number_of(doca_comch_consumer_task_post_recv_get_imm_data(task)) != self.received) fail("order", self.received);
  check(bytes, self.received, size, FAST_MAX);
  ++self.received;
  TRY(doca_buf_reset_data_len(buf));
  /* Not when the consumer stops. */
  if (doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)) != DOCA_SUCCESS) {
    receive_failed(task, data, ctx);
  }
}

static void open_fast(void) {
  const size_t size = (size_t)2 * BUFFERS * FAST_MAX;
  self.memory = aligned_alloc(4096, size);
  if (!self.memory) fail("no memory", 0);
  memset(self.memory, 0, size);
  TRY(doca_mmap_create(&self.mmap));
  TRY(doca_mmap_set_memrange(self.mmap, self.memory, size));
  TRY(doca_mmap_set_permissions(self.mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
  TRY(doca_mmap_add_dev(self.mmap, self.dev));
  TRY(doca_mmap_start(self.mmap));
  TRY(doca_buf_inventory_create(2 * BUFFERS, &self.inventory));
  TRY(doca_buf_inventory_start(self.inventory));
  TRY(doca_comch_consumer_create(self.connection, self.mmap, &self.consumer));
  TRY(doca_comch_consumer_task_post_recv_set_conf(self.consumer, bulk_received, receive_failed, BUFFERS));
  self.consumer_ctx = doca_comch_consumer_as_ctx(self.consumer);
  TRY(doca_pe_connect_ctx(self.pe, self.consumer_ctx));
  TRY(doca_ctx_start(self.consumer_ctx));
  for (size_t i = 0; i < BUFFERS; ++i) {
    struct doca_comch_consumer_task_post_recv *task;
    struct doca_buf *buf;
    TRY(doca_buf_inventory_buf_get_by_addr(self.inventory, self.mmap, self.memory + (BUFFERS + i) * FAST_MAX, FAST_MAX,
                                           &buf));
    TRY(doca_comch_consumer_task_post_recv_alloc_init(self.consumer, buf, &task));
    TRY(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
  }
  TRY(doca_comch_producer_create(self.connection, &self.producer));
  TRY(doca_comch_producer_task_send_set_conf(self.producer, bulk_sent, bulk_failed, BUFFERS));
  self.producer_ctx = doca_comch_producer_as_ctx(self.producer);
  TRY(doca_pe_connect_ctx(self.pe, self.producer_ctx));
  TRY(doca_ctx_start(self.producer_ctx));
}

static bool send_bulk(unsigned number) {
  struct doca_comch_producer_task_send *task;
  const size_t size = size_of(number, FAST_MAX);
  size_t slot = 0;
  struct doca_buf *buf;
  doca_error_t result;
  while (slot < BUFFERS && self.sending[slot]) ++slot;
  if (slot == BUFFERS) return false;
  fill(self.memory + slot * FAST_MAX, number, size);
  TRY(doca_buf_inventory_buf_get_by_data(self.inventory, self.mmap, self.memory + slot * FAST_MAX, size, &buf));
  result = doca_comch_producer_task_send_alloc_init(self.producer, buf, (uint8_t *)&number, sizeof number,
                                                    self.remote_consumer, &task);
  /* The connection has ended, and the producer with it. */
  if (result == DOCA_ERROR_BAD_STATE) {
    TRY(doca_buf_dec_refcount(buf, NULL));
    return false;
  }
  TRY(result);
  doca_task_set_user_data(doca_comch_producer_task_send_as_task(task), (union doca_data){.u64 = slot});
  TRY(doca_task_submit(doca_comch_producer_task_send_as_task(task)));
  self.sending[slot] = true;
  return true;
}

static size_t in_flight(void) {
  size_t tasks;
  TRY(doca_pe_get_num_inflight_tasks(self.pe, &tasks));
  return tasks;
}

static void stop(struct doca_ctx *ctx) {
  enum doca_ctx_states state;
  TRY(doca_ctx_get_state(ctx, &state));
  if (state == DOCA_CTX_STATE_RUNNING) TRY(doca_ctx_stop(ctx));
  for (;;) {
    TRY(doca_ctx_get_state(ctx, &state));
    if (state == DOCA_CTX_STATE_IDLE) return;
    turn();
  }
}

static void close_fast(void) {
  stop(self.producer_ctx);
  TRY(doca_comch_producer_destroy(self.producer));
  stop(self.consumer_ctx);
  TRY(doca_comch_consumer_destroy(self.consumer));
  TRY(doca_buf_inventory_destroy(self.inventory));
  TRY(doca_mmap_destroy(self.mmap));
  free(self.memory);
}

/* ---- the program */

static doca_error_t set_role(void *value, void *config) {
  ((struct program *)config)->server = strcmp(value, "server") == 0;
  return DOCA_SUCCESS;
}
static doca_error_t set_mode(void *value, void *config) {
  ((struct program *)config)->fast = strcmp(value, "fast") == 0;
  return DOCA_SUCCESS;
}
static doca_error_t set_wait(void *value, void *config) {
  ((struct program *)config)->epoll = strcmp(value, "epoll") == 0;
  return DOCA_SUCCESS;
}
static doca_error_t set_name(void *value, void *config) {
  snprintf(((struct program *)config)->name, sizeof self.name, "%s", (const char *)value);
  return DOCA_SUCCESS;
}
static doca_error_t set_count(void *value, void *config) {
  ((struct program *)config)->count = (unsigned)*(int *)value;
  return *(int *)value > 0 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

static void parameter(const char *name, const char *description, enum doca_argp_type type, bool mandatory,
                      doca_argp_param_cb_t callback) {
  struct doca_argp_param *param;
  TRY(doca_argp_param_create(&param));
  doca_argp_param_set_short_name(param, (char[]){name[0], '\0'});
  doca_argp_param_set_long_name(param, name);
  doca_argp_param_set_description(param, description);
  doca_argp_param_set_type(param, type);
  doca_argp_param_set_callback(param, callback);
  if (mandatory) doca_argp_param_set_mandatory(param);
  TRY(doca_argp_register_param(param));
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  TRY(doca_argp_init("comch_program", &self));
  parameter("role", "server or client", DOCA_ARGP_TYPE_STRING, true, set_role);
  parameter("mode", "control or fast", DOCA_ARGP_TYPE_STRING, true, set_mode);
  parameter("name", "the name of the server", DOCA_ARGP_TYPE_STRING, true, set_name);
  parameter("count", "messages", DOCA_ARGP_TYPE_INT, true, set_count);
  parameter("wait", "poll or epoll", DOCA_ARGP_TYPE_STRING, false, set_wait);
  TRY(doca_argp_start(argc, argv));
  TRY(doca_argp_destroy());

  open_device();
  open_control();
  if (self.server) printf("running\n");
  while (self.server ? !self.connection : self.state == DOCA_CTX_STATE_STARTING) turn();
  if (!self.server) {
    if (self.state != DOCA_CTX_STATE_RUNNING) fail("no connection", self.state);
    TRY(doca_comch_client_get_connection(self.as_client, &self.connection));
    printf("running\n");
  }
  if (self.fast) {
    open_fast();
    /* The other end may go before it has a consumer. */
    while (!self.remote_consumer && self.connection && self.state == DOCA_CTX_STATE_RUNNING) turn();
    while (self.completed < self.count || self.received < self.count) {
      while (self.sent < self.count && self.remote_consumer && send_bulk(self.sent)) ++self.sent;
      if (self.lost || !self.remote_consumer || self.state != DOCA_CTX_STATE_RUNNING) break;
      turn();
    }
    /* The other end may still wait for the acknowledgement of its last message. */
    if (self.server) {
      while (self.connection && self.remote_consumer) turn();
    }
    close_fast();
  } else if (self.server) {
    while (self.connection) {
      while (self.connection && self.sent < self.received && send_message(self.sent)) ++self.sent;
      turn();
    }
  } else {
    while ((self.received < self.count || in_flight() > 0) && self.state == DOCA_CTX_STATE_RUNNING) {
      while (self.sent < self.count && send_message(self.sent)) ++self.sent;
      turn();
    }
  }
  stop(self.ctx);
  printf("%s, %u received, %u lost\n", self.received == self.count && !self.lost ? "done" : "ended", self.received,
         self.lost);
  if (self.server) {
    TRY(doca_comch_server_destroy(self.as_server));
  } else {
    TRY(doca_comch_client_destroy(self.as_client));
  }
  TRY(doca_pe_destroy(self.pe));
  if (self.rep) TRY(doca_dev_rep_close(self.rep));
  TRY(doca_dev_close(self.dev));
  return self.received == self.count && !self.lost ? 0 : 3;
}
