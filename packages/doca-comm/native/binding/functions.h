// The functions of libdoca_common for devices, and of libdoca_comm_channel, found by name at run time: newer spelling
// first. Nothing links them. Those of Comch are in comch_functions.h.
#pragma once

#include "doca_comm_channel.h"
#include "doca_dev.h"

namespace verbs::doca_comm::binding {

#define VERBS_DOCA_CHANNEL_FUNCTIONS(X) \
  X(get_max_service_name_len)           \
  X(get_max_message_size)               \
  X(get_max_send_queue_size)            \
  X(get_max_recv_queue_size)            \
  X(get_service_max_num_connections)    \
  X(ep_create)                          \
  X(ep_destroy)                         \
  X(ep_get_max_msg_size)                \
  X(ep_get_send_queue_size)             \
  X(ep_get_recv_queue_size)             \
  X(ep_set_device)                      \
  X(ep_set_device_rep)                  \
  X(ep_set_max_msg_size)                \
  X(ep_set_send_queue_size)             \
  X(ep_set_recv_queue_size)             \
  X(ep_get_event_channel)               \
  X(ep_event_handle_arm_send)           \
  X(ep_event_handle_arm_recv)           \
  X(ep_listen)                          \
  X(ep_connect)                         \
  X(ep_disconnect)                      \
  X(ep_sendto)                          \
  X(ep_recvfrom)                        \
  X(peer_addr_get_user_data)            \
  X(peer_addr_set_user_data)            \
  X(peer_addr_update_info)              \
  X(peer_addr_get_send_messages)        \
  X(peer_addr_get_send_bytes)           \
  X(peer_addr_get_recv_messages)        \
  X(peer_addr_get_recv_bytes)           \
  X(peer_addr_get_send_in_flight_messages)

// Since 2.x; a library of 1.5 has none of them.
#define VERBS_DOCA_NEWER_FUNCTIONS(X) \
  X(ep_get_service_event_channel)     \
  X(ep_update_service_state_info)     \
  X(ep_get_peer_addr_list)            \
  X(ep_get_pending_connections)

// ep_get_device and ep_get_device_rep are not called: the JavaScript object keeps both.
struct ChannelFunctions {
#define VERBS_DOCA_MEMBER(name) decltype(&doca_comm_channel_##name) name = nullptr;
  VERBS_DOCA_CHANNEL_FUNCTIONS(VERBS_DOCA_MEMBER)
  VERBS_DOCA_NEWER_FUNCTIONS(VERBS_DOCA_MEMBER)
#undef VERBS_DOCA_MEMBER
};

// libdoca_common, by the names of 2.5.
struct DeviceFunctions {
  decltype(&doca_devinfo_create_list) create_list = nullptr;
  decltype(&doca_devinfo_destroy_list) destroy_list = nullptr;
  decltype(&doca_devinfo_rep_create_list) rep_create_list = nullptr;
  decltype(&doca_devinfo_rep_destroy_list) rep_destroy_list = nullptr;
  decltype(&doca_dev_open) dev_open = nullptr;
  decltype(&doca_dev_close) dev_close = nullptr;
  decltype(&doca_dev_as_devinfo) dev_as_devinfo = nullptr;
  decltype(&doca_dev_rep_open) rep_open = nullptr;
  decltype(&doca_dev_rep_close) rep_close = nullptr;
  // One of the two of each kind: the text since 2.2, the bit-fields of 1.5.
  decltype(&doca_devinfo_get_pci_addr_str) get_pci_addr_str = nullptr;
  decltype(&doca_devinfo_get_pci_addr) get_pci_addr = nullptr;
  decltype(&doca_devinfo_rep_get_pci_addr_str) rep_get_pci_addr_str = nullptr;
  decltype(&doca_devinfo_rep_get_pci_addr) rep_get_pci_addr = nullptr;
  // May be missing.
  decltype(&doca_devinfo_get_ibdev_name) get_ibdev_name = nullptr;
  decltype(&doca_devinfo_get_iface_name) get_iface_name = nullptr;
  decltype(&doca_devinfo_rep_cap_is_filter_all_supported) filter_all = nullptr;
  decltype(&doca_devinfo_rep_get_vuid) rep_get_vuid = nullptr;
};

}  // namespace verbs::doca_comm::binding
