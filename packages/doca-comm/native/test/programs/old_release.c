/* Both libraries as of DOCA 1.5: the old names only, PCI addresses as bit-fields, and none of the four functions for
 * the state of a service. There is one device, which can be opened. Endpoints can be created, and connected to the
 * service "reused", whose peers all have one address, each after the other. They fail every other call. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "doca_error.h"

struct doca_devinfo {
  int unused;
};
struct doca_pci_bdf {
  uint16_t function : 3;
  uint16_t device : 5;
  uint16_t bus : 8;
};
static struct doca_devinfo the_device;

doca_error_t doca_devinfo_list_create(struct doca_devinfo ***list, uint32_t *count) {
  *list = malloc(sizeof **list);
  if (!*list) return DOCA_ERROR_NO_MEMORY;
  (*list)[0] = &the_device;
  *count = 1;
  return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_list_destroy(struct doca_devinfo **list) {
  free(list);
  return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_pci_addr(const struct doca_devinfo *info, struct doca_pci_bdf *address) {
  (void)info;
  *address = (struct doca_pci_bdf){.function = 5, .device = 0x1e, .bus = 0xaf};
  return DOCA_SUCCESS;
}

doca_error_t doca_dev_open(struct doca_devinfo *info, void **dev) {
  *dev = info;
  return DOCA_SUCCESS;
}

doca_error_t doca_dev_close(void *dev) {
  (void)dev;
  return DOCA_SUCCESS;
}

void *doca_dev_as_devinfo(void *dev) { return dev; }

doca_error_t doca_comm_channel_get_max_service_name_len(uint32_t *length) {
  *length = 120;
  return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_create(void **ep) {
  *ep = malloc(1);
  return *ep ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

doca_error_t doca_comm_channel_ep_destroy(void *ep) {
  free(ep);
  return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_set_device(void *ep, void *dev) {
  (void)ep;
  (void)dev;
  return DOCA_SUCCESS;
}

static int the_peer;

doca_error_t doca_comm_channel_ep_connect(void *ep, const char *name, void **peer) {
  (void)ep;
  if (strcmp(name, "reused") != 0) return DOCA_ERROR_NOT_SUPPORTED;
  *peer = &the_peer;
  return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_disconnect(void *ep, void *peer) {
  (void)ep;
  return peer == &the_peer ? DOCA_SUCCESS : DOCA_ERROR_NOT_CONNECTED;
}

doca_error_t doca_comm_channel_ep_get_max_msg_size(void *ep, uint16_t *size) {
  (void)ep;
  *size = 4080;
  return DOCA_SUCCESS;
}

#define NOT_SUPPORTED(name) \
  doca_error_t name(void) { return DOCA_ERROR_NOT_SUPPORTED; }

NOT_SUPPORTED(doca_devinfo_get_is_pci_addr_equal)
NOT_SUPPORTED(doca_devinfo_rep_list_create)
NOT_SUPPORTED(doca_devinfo_rep_list_destroy)
NOT_SUPPORTED(doca_devinfo_rep_get_pci_addr)
NOT_SUPPORTED(doca_dev_rep_open)
NOT_SUPPORTED(doca_dev_rep_close)
NOT_SUPPORTED(doca_comm_channel_ep_event_handle_arm_recv)
NOT_SUPPORTED(doca_comm_channel_ep_event_handle_arm_send)
NOT_SUPPORTED(doca_comm_channel_ep_get_device)
NOT_SUPPORTED(doca_comm_channel_ep_get_device_rep)
NOT_SUPPORTED(doca_comm_channel_ep_get_event_channel)
NOT_SUPPORTED(doca_comm_channel_ep_get_recv_queue_size)
NOT_SUPPORTED(doca_comm_channel_ep_get_send_queue_size)
NOT_SUPPORTED(doca_comm_channel_ep_listen)
NOT_SUPPORTED(doca_comm_channel_ep_recvfrom)
NOT_SUPPORTED(doca_comm_channel_ep_sendto)
NOT_SUPPORTED(doca_comm_channel_ep_set_device_rep)
NOT_SUPPORTED(doca_comm_channel_ep_set_max_msg_size)
NOT_SUPPORTED(doca_comm_channel_ep_set_recv_queue_size)
NOT_SUPPORTED(doca_comm_channel_ep_set_send_queue_size)
NOT_SUPPORTED(doca_comm_channel_get_max_message_size)
NOT_SUPPORTED(doca_comm_channel_get_max_recv_queue_size)
NOT_SUPPORTED(doca_comm_channel_get_max_send_queue_size)
NOT_SUPPORTED(doca_comm_channel_get_service_max_num_connections)
NOT_SUPPORTED(doca_comm_channel_peer_addr_get_recv_bytes)
NOT_SUPPORTED(doca_comm_channel_peer_addr_get_recv_messages)
NOT_SUPPORTED(doca_comm_channel_peer_addr_get_send_bytes)
NOT_SUPPORTED(doca_comm_channel_peer_addr_get_send_in_flight_messages)
NOT_SUPPORTED(doca_comm_channel_peer_addr_get_send_messages)
NOT_SUPPORTED(doca_comm_channel_peer_addr_get_user_data)
NOT_SUPPORTED(doca_comm_channel_peer_addr_set_user_data)
NOT_SUPPORTED(doca_comm_channel_peer_addr_update_info)
