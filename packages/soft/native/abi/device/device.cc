// ibv_get_device_list and its family.
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "abi/device/context.h"
#include "host/devices/registry.h"
#include "host/machine/machine.h"
#include "verbs_soft_boundary.h"

using namespace verbs::soft;

namespace {

ibv_device** list_devices(int* num_devices) {
  if (num_devices) *num_devices = 0;
  host::note_use();
  std::vector<host::Device*> devices;
  if (const int error = host::Registry::get().list(verbs_soft_extension, &devices)) {
    return abi::null_with<ibv_device*>(error);
  }
  auto** list = static_cast<ibv_device**>(calloc(devices.size() + 1, sizeof(ibv_device*)));
  if (!list) return abi::null_with<ibv_device*>(ENOMEM);
  for (std::size_t i = 0; i < devices.size(); ++i) list[i] = devices[i]->ibv();
  if (num_devices) *num_devices = static_cast<int>(devices.size());
  return list;
}

}  // namespace

extern "C" {

#undef ibv_get_device_list
ibv_device** ibv_get_device_list(int* num_devices) {
  return verb([&] { return list_devices(num_devices); });
}

void ibv_free_device_list(ibv_device** list) { free(list); }

const char* ibv_get_device_name(ibv_device* device) { return device->name; }

__be64 ibv_get_device_guid(ibv_device* device) {
  const host::Device* found = host::Registry::get().find(device);
  return found ? htobe64(found->guid()) : 0;
}

// The kernel's number of a device: our devices have none.
int ibv_get_device_index(ibv_device*) { return -1; }

ibv_context* ibv_open_device(ibv_device* device) {
  return verb([&] { return abi::open_context(device); });
}

int ibv_close_device(ibv_context* context) {
  return verb([&] { return abi::close_context(context); }) == 0 ? 0 : -1;
}

ibv_context* ibv_import_device(int cmd_fd) {
  return verb([&] { return abi::import_context(cmd_fd); });
}

}  // extern "C"
