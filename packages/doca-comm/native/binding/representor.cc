#include "binding/representor.h"

namespace verbs::doca_comm::binding {

namespace {

std::string pci_of(const DeviceFunctions& f, const doca_devinfo_rep* info) {
  return pci_text(f.rep_get_pci_addr_str, f.rep_get_pci_addr, info);
}

// listRepresentors(device, filter): an array, or the error
Napi::Value list_representors(const Napi::CallbackInfo& info) {
  const Device& device = handle<Device>(info, 0, kDeviceTag);
  const DeviceFunctions& f = device.functions();
  if (!device.get()) return failure(info, DOCA_ERROR_INVALID_VALUE);
  doca_devinfo_rep** list = nullptr;
  std::uint32_t count = 0;
  const doca_error_t error = f.rep_create_list(device.get(), info[1].As<Napi::Number>(), &list, &count);
  if (error != DOCA_SUCCESS) return failure(info, error);
  Napi::Array result = Napi::Array::New(info.Env());
  for (std::uint32_t i = 0; i < count; ++i) {
    char vuid[DOCA_DEVINFO_REP_VUID_SIZE] = {};
    if (f.rep_get_vuid) f.rep_get_vuid(list[i], vuid, sizeof vuid);
    Napi::Object entry = Napi::Object::New(info.Env());
    entry["pciAddr"] = pci_of(f, list[i]);
    entry["vuid"] = std::string(vuid);
    result[i] = entry;
  }
  f.rep_destroy_list(list);
  return result;
}

// openRepresentor(device, filter, pciAddr): a handle, or the error
Napi::Value open_representor(const Napi::CallbackInfo& info) {
  const Device& device = handle<Device>(info, 0, kDeviceTag);
  const DeviceFunctions& f = device.functions();
  if (!device.get()) return failure(info, DOCA_ERROR_INVALID_VALUE);
  const std::string pci = info[2].As<Napi::String>();
  doca_devinfo_rep** list = nullptr;
  std::uint32_t count = 0;
  doca_error_t error = f.rep_create_list(device.get(), info[1].As<Napi::Number>(), &list, &count);
  if (error != DOCA_SUCCESS) return failure(info, error);
  error = DOCA_ERROR_NOT_FOUND;
  doca_dev_rep* rep = nullptr;
  for (std::uint32_t i = 0; i < count && error == DOCA_ERROR_NOT_FOUND; ++i) {
    if (pci_of(f, list[i]) == pci) error = f.rep_open(list[i], &rep);
  }
  f.rep_destroy_list(list);
  if (error != DOCA_SUCCESS) return failure(info, error);
  return give(info.Env(), std::make_unique<Representor>(device.open(), rep), kRepresentorTag);
}

Napi::Value close_representor(const Napi::CallbackInfo& info) {
  return failure(info, handle<Representor>(info, 0, kRepresentorTag).close());
}

}  // namespace

void Representor::init(Napi::Object exports) {
  add_function<list_representors>(exports, "listRepresentors");
  add_function<open_representor>(exports, "openRepresentor");
  add_function<close_representor>(exports, "closeRepresentor");
}

}  // namespace verbs::doca_comm::binding
