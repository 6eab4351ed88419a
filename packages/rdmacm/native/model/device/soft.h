// The software NIC of this process: its function table, and the verbs that this library calls.
#pragma once

#include <infiniband/verbs.h>

#include "verbs_soft_cm.h"
#include "verbs_soft_model.h"

namespace verbs::rdmacm::model {

// The functions of the libibverbs that the table came from.
struct Soft {
  const verbs_soft_extension_table* table = nullptr;
  const verbs_soft_cm_table* cm = nullptr;
  decltype(&ibv_get_device_list) get_device_list = nullptr;
  decltype(&ibv_free_device_list) free_device_list = nullptr;
  decltype(&ibv_open_device) open_device = nullptr;
  decltype(&ibv_close_device) close_device = nullptr;
  decltype(&ibv_query_device) query_device = nullptr;
  decltype(&ibv_alloc_pd) alloc_pd = nullptr;
  decltype(&ibv_create_comp_channel) create_comp_channel = nullptr;
  decltype(&ibv_destroy_comp_channel) destroy_comp_channel = nullptr;
  decltype(&ibv_create_cq) create_cq = nullptr;
  decltype(&ibv_destroy_cq) destroy_cq = nullptr;
  decltype(&ibv_create_qp) create_qp = nullptr;
  decltype(&ibv_modify_qp) modify_qp = nullptr;
  decltype(&ibv_destroy_qp) destroy_qp = nullptr;
  decltype(&ibv_create_srq) create_srq = nullptr;
  decltype(&ibv_destroy_srq) destroy_srq = nullptr;
  decltype(&ibv_attach_mcast) attach_mcast = nullptr;
  decltype(&ibv_detach_mcast) detach_mcast = nullptr;
};

// verbs_soft_model_load(): 0, also if it is attached already; ENOSYS without the software NIC; ENOMEM.
int attach(verbs_soft_extension_function extension);
// nullptr before attach().
const Soft* soft();
// Why it is nullptr: ENODEV, or ENOMEM if there was no memory to attach.
int why_not();

}  // namespace verbs::rdmacm::model
