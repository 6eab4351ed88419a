#include "binding/representor.h"

namespace verbs::doca_comm::binding {

namespace {

std::string pci_of(const DeviceFunctions& f, const doca_devinfo_rep* info) {
  return pci_text(f.rep_get_pci_addr_str, f.rep_get_pci_addr, info);
}

// listRepresentors(device, filter): an array, or the error
Napi::Value list_representors(const Napi::CallbackInfo& info) {
  const Device& device = kDevices.of(info, 0);
  const DeviceFunctions& f = device.functions();
  if (!device.get()) return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  doca_devinfo_rep** list = nullptr;
  std::uint32_t count = 0;
  const doca_error_t error = f.rep_create_list(device.get(), number_of<std::uint32_t>(info[1]), &list, &count);
  if (error != DOCA_SUCCESS) return failure(info.Env(), error);
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
  const Device& device = kDevices.of(info, 0);
  const DeviceFunctions& f = device.functions();
  if (!device.get()) return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  const std::string pci = string_of(info[2]);
  doca_devinfo_rep** list = nullptr;
  std::uint32_t count = 0;
  doca_error_t error = f.rep_create_list(device.get(), number_of<std::uint32_t>(info[1]), &list, &count);
  if (error != DOCA_SUCCESS) return failure(info.Env(), error);
  error = DOCA_ERROR_NOT_FOUND;
  doca_dev_rep* rep = nullptr;
  for (std::uint32_t i = 0; i < count && error == DOCA_ERROR_NOT_FOUND; ++i) {
    if (pci_of(f, list[i]) == pci) error = f.rep_open(list[i], &rep);
  }
  f.rep_destroy_list(list);
  if (error != DOCA_SUCCESS) return failure(info.Env(), error);
  return kRepresentors.give(info.Env(), std::make_unique<Representor>(device.open(), rep));
}

Napi::Value close_representor(const Napi::CallbackInfo& info) {
  return failure(info.Env(), kRepresentors.of(info, 0).close());
}

}  // namespace

void Representor::init(Napi::Object exports) {
  export_function<list_representors>(exports, "listRepresentors");
  export_function<open_representor>(exports, "openRepresentor");
  export_function<close_representor>(exports, "closeRepresentor");
}

}  // namespace verbs::doca_comm::binding
