/* A pair of programs: a client sends a request to a service by name and receives the reply. Written against
 * DOCA's prototypes alone, and bound to the names of the version node EXPERIMENTAL.
 *
 *   request_reply service NAME     serves one client, then waits until it disconnects
 *   request_reply client NAME TEXT
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doca_comm_channel.h"

__asm__(".symver doca_comm_channel_ep_create,doca_comm_channel_ep_create@EXPERIMENTAL");
__asm__(".symver doca_comm_channel_ep_recvfrom,doca_comm_channel_ep_recvfrom@EXPERIMENTAL");
__asm__(".symver doca_dev_open,doca_dev_open@EXPERIMENTAL");

enum { MAX_MSG = 4080, QUEUE = 10 };

static const char *host_pci = "5f5f:3b:00.0";
static const char *dpu_pci = "5f5f:03:00.0";

#define TRY(call)                                                       \
  do {                                                                  \
    const doca_error_t result_ = (call);                                \
    if (result_ != DOCA_SUCCESS) {                                      \
      fprintf(stderr, "%s: %s\n", #call, doca_get_error_name(result_)); \
      return result_;                                                   \
    }                                                                   \
  } while (0)

static doca_error_t open_device(const char *pci, struct doca_dev **dev) {
  struct doca_devinfo **list;
  uint32_t count, i;
  TRY(doca_devinfo_list_create(&list, &count));
  for (i = 0; i < count; ++i) {
    uint8_t equal = 0;
    if (doca_devinfo_get_is_pci_addr_equal(list[i], pci, &equal) == DOCA_SUCCESS && equal) {
      TRY(doca_dev_open(list[i], dev));
      return doca_devinfo_list_destroy(list);
    }
  }
  return DOCA_ERROR_NOT_FOUND;
}

static doca_error_t open_representor(struct doca_dev *dev, struct doca_dev_rep **rep) {
  struct doca_devinfo_rep **list;
  uint32_t count, i;
  TRY(doca_devinfo_rep_list_create(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count));
  for (i = 0; i < count; ++i) {
    uint8_t equal = 0;
    if (doca_devinfo_rep_get_is_pci_addr_equal(list[i], host_pci, &equal) == DOCA_SUCCESS && equal) {
      TRY(doca_dev_rep_open(list[i], rep));
      return doca_devinfo_rep_list_destroy(list);
    }
  }
  return DOCA_ERROR_NOT_FOUND;
}

static doca_error_t make_endpoint(struct doca_dev *dev, struct doca_dev_rep *rep, struct doca_comm_channel_ep_t **ep) {
  TRY(doca_comm_channel_ep_create(ep));
  TRY(doca_comm_channel_ep_set_device(*ep, dev));
  if (rep) TRY(doca_comm_channel_ep_set_device_rep(*ep, rep));
  TRY(doca_comm_channel_ep_set_max_msg_size(*ep, MAX_MSG));
  TRY(doca_comm_channel_ep_set_send_queue_size(*ep, QUEUE));
  TRY(doca_comm_channel_ep_set_recv_queue_size(*ep, QUEUE));
  return DOCA_SUCCESS;
}

/* Arms before it polls: a message in between makes the descriptor readable. */
static doca_error_t receive(struct doca_comm_channel_ep_t *ep, char *message, size_t *length,
                            struct doca_comm_channel_addr_t **peer) {
  struct pollfd events = {.events = POLLIN};
  doca_error_t result;
  TRY(doca_comm_channel_ep_get_event_channel(ep, NULL, &events.fd));
  for (;;) {
    *length = MAX_MSG;
    TRY(doca_comm_channel_ep_event_handle_arm_recv(ep));
    result = doca_comm_channel_ep_recvfrom(ep, message, length, DOCA_CC_MSG_FLAG_NONE, peer);
    if (result != DOCA_ERROR_AGAIN) return result;
    poll(&events, 1, -1);
  }
}

static doca_error_t serve(const char *name) {
  struct doca_dev *dev;
  struct doca_dev_rep *rep;
  struct doca_comm_channel_ep_t *ep;
  struct doca_comm_channel_addr_t *peer;
  char message[MAX_MSG], reply[MAX_MSG];
  size_t length;
  doca_error_t result;
  TRY(open_device(dpu_pci, &dev));
  TRY(open_representor(dev, &rep));
  TRY(make_endpoint(dev, rep, &ep));
  TRY(doca_comm_channel_ep_listen(ep, name));
  printf("listening\n");
  fflush(stdout);
  TRY(receive(ep, message, &length, &peer));
  printf("service got: %.*s\n", (int)length, message);
  snprintf(reply, sizeof reply, "reply to %.*s", (int)length < 100 ? (int)length : 100, message);
  TRY(doca_comm_channel_ep_sendto(ep, reply, strlen(reply), DOCA_CC_MSG_FLAG_NONE, peer));
  /* The client disconnects first. */
  result = receive(ep, message, &length, &peer);
  printf("then: %s\n", doca_get_error_name(result));
  TRY(doca_comm_channel_ep_disconnect(ep, peer));
  TRY(doca_comm_channel_ep_destroy(ep));
  TRY(doca_dev_rep_close(rep));
  return doca_dev_close(dev);
}

static doca_error_t ask(const char *name, const char *text) {
  struct doca_dev *dev;
  struct doca_comm_channel_ep_t *ep;
  struct doca_comm_channel_addr_t *service, *peer;
  char message[MAX_MSG];
  size_t length;
  doca_error_t result;
  TRY(open_device(host_pci, &dev));
  TRY(make_endpoint(dev, NULL, &ep));
  TRY(doca_comm_channel_ep_connect(ep, name, &service));
  while ((result = doca_comm_channel_peer_addr_update_info(service)) == DOCA_ERROR_CONNECTION_INPROGRESS) usleep(10);
  if (result != DOCA_SUCCESS) return result;
  while ((result = doca_comm_channel_ep_sendto(ep, text, strlen(text), DOCA_CC_MSG_FLAG_NONE, service)) ==
         DOCA_ERROR_AGAIN) {
    usleep(10);
  }
  if (result != DOCA_SUCCESS) return result;
  TRY(receive(ep, message, &length, &peer));
  printf("client got: %.*s\n", (int)length, message);
  TRY(doca_comm_channel_ep_disconnect(ep, service));
  TRY(doca_comm_channel_ep_destroy(ep));
  return doca_dev_close(dev);
}

int main(int argc, char **argv) {
  doca_error_t result;
  if (argc == 3 && strcmp(argv[1], "service") == 0) {
    result = serve(argv[2]);
  } else if (argc == 4 && strcmp(argv[1], "client") == 0) {
    result = ask(argv[2], argv[3]);
  } else {
    fprintf(stderr, "usage: request_reply service NAME | client NAME TEXT\n");
    return 2;
  }
  if (result == DOCA_SUCCESS) return 0;
  fprintf(stderr, "%s: %s\n", doca_get_error_name(result), doca_get_error_string(result));
  return 1;
}
