/* Many clients of one server of Comch: every message comes back, in order, with every byte.
 *
 *   comch_scale server NAME CLIENTS             ends when that many clients have come and gone
 *   comch_scale client NAME FIRST CLIENTS COUNT CLIENTS clients in this process, numbered from FIRST, on one engine:
 * each sends COUNT messages, 8 at a time comch_scale idle NAME CLIENTS SECONDS       clients that do nothing but wait
 * for that time
 *
 * The server writes "running", and at the end how many clients came, how many of them went before their last message,
 * and how many messages it received; a client process how many came back. Both wait with epoll. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>

#include "doca_comch.h"

enum { WINDOW = 8, MOST = 1000, SERVER_TASKS = 8192, MOST_CLIENTS = 512 };

struct header {
  unsigned client, number, count, size;
};

/* A message that is in flight. */
struct slot {
  struct slot *next;
  uint8_t bytes[MOST];
};

struct client {
  unsigned id, sent, received;
  struct doca_comch_client *object;
  struct doca_comch_connection *connection;
  struct doca_ctx *ctx;
  enum doca_ctx_states state;
};

static struct doca_pe *pe;
static struct doca_dev *dev;
static struct slot *free_slots;
static unsigned count_wanted, came, gone, cut;
static unsigned long long all_received;

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

static unsigned size_of(unsigned client, unsigned number) {
  return (unsigned)sizeof(struct header) +
         (client * 131 + number * 7919) % (MOST - (unsigned)sizeof(struct header) + 1);
}
static uint8_t byte_of(const struct header *header, unsigned at) {
  return (uint8_t)(header->client * 17 + header->number * 31 + at * 7);
}

static unsigned fill(uint8_t *bytes, unsigned client, unsigned number) {
  const struct header header = {client, number, count_wanted, size_of(client, number)};
  memcpy(bytes, &header, sizeof header);
  for (unsigned i = sizeof header; i < header.size; ++i) bytes[i] = byte_of(&header, i);
  return header.size;
}

static struct header check(const uint8_t *bytes, unsigned size) {
  struct header header;
  if (size < sizeof header) fail("a short message", size);
  memcpy(&header, bytes, sizeof header);
  if (header.size != size || size != size_of(header.client, header.number)) fail("a wrong size", size);
  for (unsigned i = sizeof header; i < size; ++i) {
    if (bytes[i] != byte_of(&header, i)) fail("a wrong byte in message", header.number);
  }
  return header;
}

static struct slot *take_slot(void) {
  struct slot *slot = free_slots;
  if (slot) {
    free_slots = slot->next;
    return slot;
  }
  slot = malloc(sizeof *slot);
  if (!slot) fail("no memory", 0);
  return slot;
}

static void task_done(struct doca_comch_task_send *task, union doca_data data, union doca_data ctx) {
  struct slot *slot = data.ptr;
  (void)ctx;
  slot->next = free_slots;
  free_slots = slot;
  doca_task_free(doca_comch_task_send_as_task(task));
}

/* The connection has ended: a server learns how much was lost by its callback. */
static void task_failed(struct doca_comch_task_send *task, union doca_data data, union doca_data ctx) {
  task_done(task, data, ctx);
}

static void submit(struct doca_comch_task_send *task, struct slot *slot) {
  doca_error_t result;
  doca_task_set_user_data(doca_comch_task_send_as_task(task), (union doca_data){.ptr = slot});
  result = doca_task_submit(doca_comch_task_send_as_task(task));
  if (result == DOCA_ERROR_NOT_CONNECTED)
    return task_done(task, (union doca_data){.ptr = slot}, (union doca_data){.u64 = 0});
  TRY(result);
}

/* ---- the server */

static struct doca_comch_server *server;

/* The user data of a connection: the next number, and in the upper half whether that was the last one. */
static const uint64_t finished = (uint64_t)1 << 32;

static void server_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t size,
                           struct doca_comch_connection *connection) {
  const union doca_data expected = doca_comch_connection_get_user_data(connection);
  const struct header header = check(bytes, size);
  struct doca_comch_task_send *task;
  struct slot *slot = take_slot();
  uint64_t next = header.number + 1;
  (void)event;
  if (header.number != (unsigned)expected.u64) fail("not the next message but", header.number);
  if (next == header.count) next |= finished;
  TRY(doca_comch_connection_set_user_data(connection, (union doca_data){.u64 = next}));
  ++all_received;
  memcpy(slot->bytes, bytes, size);
  TRY(doca_comch_server_task_send_alloc_init(server, connection, slot->bytes, size, &task));
  submit(task, slot);
}

static void connected(struct doca_comch_event_connection_status_changed *event,
                      struct doca_comch_connection *connection, uint8_t success) {
  (void)event, (void)connection;
  if (success) ++came;
}

static void disconnected(struct doca_comch_event_connection_status_changed *event,
                         struct doca_comch_connection *connection, uint8_t success) {
  (void)event, (void)success;
  ++gone;
  if ((doca_comch_connection_get_user_data(connection).u64 & finished) == 0) ++cut;
}

static void open_device(const char *pci) {
  struct doca_devinfo **list;
  uint32_t count, i;
  TRY(doca_devinfo_create_list(&list, &count));
  for (i = 0; i < count; ++i) {
    uint8_t equal = 0;
    TRY(doca_devinfo_is_equal_pci_addr(list[i], pci, &equal));
    if (equal) TRY(doca_dev_open(list[i], &dev));
  }
  TRY(doca_devinfo_destroy_list(list));
  if (!dev) fail("no device", 0);
}

/* Until something happens, or for that time. */
static void turn(int milliseconds) {
  static int set = -1, handle;
  struct epoll_event event = {.events = EPOLLIN};
  if (doca_pe_progress(pe)) return;
  if (set < 0) {
    set = epoll_create1(0);
    TRY(doca_pe_get_notification_handle(pe, &handle));
    if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, handle, &event) != 0) fail("epoll", (unsigned)errno);
  }
  TRY(doca_pe_request_notification(pe));
  if (!doca_pe_progress(pe) && epoll_wait(set, &event, 1, milliseconds) == 0 && milliseconds >= 60000) {
    fprintf(stderr, "nothing woke the program: %u came, %u gone, %llu received\n", came, gone, all_received);
    exit(1);
  }
  TRY(doca_pe_clear_notification(pe, handle));
}

static double used_ms(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static int run_server(const char *name, unsigned clients) {
  struct doca_devinfo_rep **reps;
  struct doca_dev_rep *rep;
  struct doca_ctx *ctx;
  double before = 0;
  uint32_t count;
  open_device("5f5f:03:00.0");
  TRY(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &count));
  TRY(doca_dev_rep_open(reps[0], &rep));
  TRY(doca_devinfo_rep_destroy_list(reps));
  TRY(doca_comch_server_create(dev, rep, name, &server));
  TRY(doca_comch_server_task_send_set_conf(server, task_done, task_failed, SERVER_TASKS));
  TRY(doca_comch_server_event_msg_recv_register(server, server_message));
  TRY(doca_comch_server_event_connection_status_changed_register(server, connected, disconnected));
  ctx = doca_comch_server_as_ctx(server);
  TRY(doca_pe_connect_ctx(pe, ctx));
  TRY(doca_ctx_start(ctx));
  printf("running\n");
  while (gone < clients) {
    turn(60000);
    if (came == clients && before == 0) {
      printf("all here\n");
      before = used_ms();
    }
  }
  printf("%u came, %u cut, %llu received, %.0f ms of processor since all were here\n", came, cut, all_received,
         used_ms() - before);
  return 0;
}

/* ---- the clients */

static void state_changed(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states previous,
                          enum doca_ctx_states next) {
  (void)ctx, (void)previous;
  ((struct client *)data.ptr)->state = next;
}

static void client_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t size,
                           struct doca_comch_connection *connection) {
  struct client *client = doca_comch_connection_get_user_data(connection).ptr;
  const struct header header = check(bytes, size);
  (void)event;
  if (header.client != client->id) fail("the message of client", header.client);
  if (header.number != client->received) fail("not the next message but", header.number);
  ++client->received;
  ++all_received;
}

static void open_client(struct client *client, const char *name) {
  TRY(doca_comch_client_create(dev, name, &client->object));
  TRY(doca_comch_client_task_send_set_conf(client->object, task_done, task_failed, WINDOW));
  TRY(doca_comch_client_event_msg_recv_register(client->object, client_message));
  client->ctx = doca_comch_client_as_ctx(client->object);
  TRY(doca_ctx_set_user_data(client->ctx, (union doca_data){.ptr = client}));
  TRY(doca_ctx_set_state_changed_cb(client->ctx, state_changed));
  TRY(doca_pe_connect_ctx(pe, client->ctx));
  TRY(doca_ctx_start(client->ctx));
}

static void send_more(struct client *client) {
  while (client->sent < count_wanted && client->sent - client->received < WINDOW) {
    struct doca_comch_task_send *task;
    struct slot *slot;
    doca_error_t result;
    /* The answer may be here before the completion of the message. */
    slot = take_slot();
    result = doca_comch_client_task_send_alloc_init(client->object, client->connection, slot->bytes,
                                                    fill(slot->bytes, client->id, client->sent), &task);
    if (result == DOCA_ERROR_NO_MEMORY) {
      slot->next = free_slots;
      free_slots = slot;
      return;
    }
    TRY(result);
    submit(task, slot);
    ++client->sent;
  }
}

static bool all_are(const struct client *clients, unsigned count, enum doca_ctx_states state) {
  for (unsigned i = 0; i < count; ++i) {
    if (clients[i].state != state) return false;
  }
  return true;
}

static int run_clients(const char *name, unsigned first, unsigned count, int idle_seconds) {
  static struct client clients[MOST_CLIENTS];
  const time_t until = time(NULL) + idle_seconds;
  bool busy = true;
  if (count > MOST_CLIENTS) fail("too many clients", count);
  open_device("5f5f:3b:00.0");
  for (unsigned i = 0; i < count; ++i) {
    clients[i].id = first + i;
    open_client(&clients[i], name);
  }
  while (!all_are(clients, count, DOCA_CTX_STATE_RUNNING)) {
    turn(60000);
    for (unsigned i = 0; i < count; ++i) {
      if (clients[i].state == DOCA_CTX_STATE_IDLE) fail("no connection of client", clients[i].id);
    }
  }
  for (unsigned i = 0; i < count; ++i) {
    TRY(doca_comch_client_get_connection(clients[i].object, &clients[i].connection));
    TRY(doca_comch_connection_set_user_data(clients[i].connection, (union doca_data){.ptr = &clients[i]}));
  }
  printf("running\n");
  while (time(NULL) < until) turn(1000);
  while (busy) {
    busy = false;
    for (unsigned i = 0; i < count; ++i) {
      if (clients[i].state != DOCA_CTX_STATE_RUNNING) fail("the end of client", clients[i].id);
      send_more(&clients[i]);
      busy |= clients[i].received < count_wanted;
    }
    if (busy) turn(60000);
  }
  for (unsigned i = 0; i < count; ++i) TRY(doca_ctx_stop(clients[i].ctx));
  while (!all_are(clients, count, DOCA_CTX_STATE_IDLE)) turn(60000);
  for (unsigned i = 0; i < count; ++i) TRY(doca_comch_client_destroy(clients[i].object));
  printf("done, %llu received\n", all_received);
  return 0;
}

int main(int argc, char **argv) {
  struct rlimit files;
  setvbuf(stdout, NULL, _IOLBF, 0);
  /* As a shell's programs have it. */
  getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur > 1024) files.rlim_cur = 1024;
  setrlimit(RLIMIT_NOFILE, &files);
  TRY(doca_pe_create(&pe));
  if (argc == 4 && strcmp(argv[1], "server") == 0) return run_server(argv[2], (unsigned)atoi(argv[3]));
  if (argc == 6 && strcmp(argv[1], "client") == 0) {
    count_wanted = (unsigned)atoi(argv[5]);
    return run_clients(argv[2], (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4]), 0);
  }
  if (argc == 5 && strcmp(argv[1], "idle") == 0) {
    return run_clients(argv[2], 0, (unsigned)atoi(argv[3]), atoi(argv[4]));
  }
  fprintf(stderr,
          "usage: comch_scale server NAME CLIENTS | client NAME FIRST CLIENTS COUNT | idle NAME CLIENTS SECONDS\n");
  return 2;
}
