// The software NIC of this process: its function table, and the verbs that this library calls.
#pragma once

#include <infiniband/verbs.h>

#include "verbs_soft_model.h"

namespace verbs::rdmacm::model {

// The functions of the libibverbs that the table came from.
struct Soft {
  const verbs_soft_extension_table* table = nullptr;
  decltype(&ibv_get_device_list) get_device_list = nullptr;
  decltype(&ibv_free_device_list) free_device_list = nullptr;
  decltype(&ibv_open_device) open_device = nullptr;
};

// verbs_soft_model_load(): 0, also if it is attached already; ENOSYS without the software NIC.
int attach(verbs_soft_extension_function extension);
// nullptr before attach().
const Soft* soft();

}  // namespace verbs::rdmacm::model
