#include "binding/device.h"

#include <iterator>

namespace verbs::doca_comm::binding {

namespace {

std::string pci_of(const DeviceFunctions& f, const doca_devinfo* info) {
  return pci_text(f.get_pci_addr_str, f.get_pci_addr, info);
}

template <std::uint32_t kSize>
std::string name_of(doca_error_t (*get)(const doca_devinfo*, char*, std::uint32_t), const doca_devinfo* info) {
  char name[kSize] = {};
  return get && get(info, name, kSize) == DOCA_SUCCESS ? std::string(name) : std::string();
}

std::string ibdev_of(const DeviceFunctions& f, const doca_devinfo* info) {
  return name_of<DOCA_DEVINFO_IBDEV_NAME_SIZE>(f.get_ibdev_name, info);
}

// listDevices(library): an array, or the error
Napi::Value list_devices(const Napi::CallbackInfo& info) {
  const DeviceFunctions& f = kLibraries.of(info, 0).devices();
  doca_devinfo** list = nullptr;
  std::uint32_t count = 0;
  if (const doca_error_t error = f.create_list(&list, &count)) return failure(info.Env(), error);
  Napi::Array result = Napi::Array::New(info.Env());
  for (std::uint32_t i = 0; i < count; ++i) {
    Napi::Object entry = Napi::Object::New(info.Env());
    entry["pciAddr"] = pci_of(f, list[i]);
    entry["ibdevName"] = ibdev_of(f, list[i]);
    entry["ifaceName"] = name_of<DOCA_DEVINFO_IFACE_NAME_SIZE>(f.get_iface_name, list[i]);
    std::uint8_t representors = 0;
    entry["hasRepresentors"] = f.filter_all && f.filter_all(list[i], &representors) == DOCA_SUCCESS && representors;
    result[i] = entry;
  }
  f.destroy_list(list);
  return result;
}

// openDevice(library, pciAddr, ibdevName): a handle, or the error
Napi::Value open_device(const Napi::CallbackInfo& info) {
  const Library& library = kLibraries.of(info, 0);
  const DeviceFunctions& f = library.devices();
  const std::string pci = string_of(info[1]), ibdev = string_of(info[2]);
  doca_devinfo** list = nullptr;
  std::uint32_t count = 0;
  doca_error_t error = f.create_list(&list, &count);
  if (error != DOCA_SUCCESS) return failure(info.Env(), error);
  error = DOCA_ERROR_NOT_FOUND;
  doca_dev* dev = nullptr;
  for (std::uint32_t i = 0; i < count && error == DOCA_ERROR_NOT_FOUND; ++i) {
    if (pci_of(f, list[i]) == pci && ibdev_of(f, list[i]) == ibdev) error = f.dev_open(list[i], &dev);
  }
  f.destroy_list(list);
  if (error != DOCA_SUCCESS) return failure(info.Env(), error);
  return kDevices.give(info.Env(), std::make_unique<Device>(library, dev));
}

Napi::Value close_device(const Napi::CallbackInfo& info) { return failure(info.Env(), kDevices.of(info, 0).close()); }

Napi::Value max_service_name_len(const Napi::CallbackInfo& info) {
  const ChannelFunctions* channel = kLibraries.of(info, 0).channel();
  std::uint32_t length = 0;
  const doca_error_t error = channel ? channel->get_max_service_name_len(&length) : DOCA_ERROR_NOT_SUPPORTED;
  return error ? failure(info.Env(), error) : number(info.Env(), length);
}

// capability(device, which): of the Comm Channel: 0 message, 1 send queue, 2 receive queue, 3 connections
Napi::Value capability(const Napi::CallbackInfo& info) {
  const Device& device = kDevices.of(info, 0);
  const ChannelFunctions* f = device.library().channel();
  if (!f) return failure(info.Env(), DOCA_ERROR_NOT_SUPPORTED);
  using Getter = doca_error_t (*)(doca_devinfo*, std::uint32_t*);
  const Getter getters[] = {f->get_max_message_size, f->get_max_send_queue_size, f->get_max_recv_queue_size,
                            f->get_service_max_num_connections};
  const std::uint32_t which = number_of<std::uint32_t>(info[1]);
  if (!device.get() || which >= std::size(getters)) return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  std::uint32_t value = 0;
  const doca_error_t error = getters[which](device.functions().dev_as_devinfo(device.get()), &value);
  return error ? failure(info.Env(), error) : number(info.Env(), value);
}

}  // namespace

void Device::init(Napi::Object exports) {
  export_function<list_devices>(exports, "listDevices");
  export_function<open_device>(exports, "openDevice");
  export_function<close_device>(exports, "closeDevice");
  export_function<max_service_name_len>(exports, "maxServiceNameLen");
  export_function<capability>(exports, "capability");
}

}  // namespace verbs::doca_comm::binding
