// A DOCA device that JavaScript has open.
#pragma once

#include <string>

#include "binding/handle.h"

namespace verbs::doca_comm::binding {

// An open device. One that is never closed is closed with its handle, unless something still uses it.
class Device {
 public:
  Device(const Library& library, doca_dev* dev) : library_(library), dev_(dev) {}
  ~Device() { close(); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Functions& functions() const { return library_.functions(); }
  doca_dev* get() const { return dev_; }
  doca_error_t close() {
    if (!dev_) return DOCA_SUCCESS;
    const doca_error_t error = functions().dev_close(dev_);
    if (error == DOCA_SUCCESS) dev_ = nullptr;
    return error;
  }

  static void init(Napi::Object exports);

 private:
  const Library& library_;
  doca_dev* dev_;
};

// The text of a PCI address: from the function of release 2.2 and later, else from the bit-fields of 1.5.
template <typename Info>
std::string pci_text(doca_error_t (*text_of)(const Info*, char*), doca_error_t (*bits_of)(const Info*, doca_pci_bdf*),
                     const Info* info) {
  char text[24] = {};
  if (text_of) return text_of(info, text) == DOCA_SUCCESS ? text : "";
  doca_pci_bdf bdf{};
  if (bits_of(info, &bdf) != DOCA_SUCCESS) return {};
  std::snprintf(text, sizeof text, "0000:%02x:%02x.%x", bdf.raw >> 8, bdf.raw >> 3 & 31, bdf.raw & 7);
  return text;
}

}  // namespace verbs::doca_comm::binding
