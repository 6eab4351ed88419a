// A DOCA device that JavaScript has open.
#pragma once

#include <memory>
#include <string>

#include "binding/handle.h"

namespace verbs::doca_comm::binding {

// An open doca_dev. Contexts of Comch keep it, so that it is closed after them.
struct OpenDevice {
  const Library& library;
  doca_dev* dev;

  OpenDevice(const Library& its_library, doca_dev* its_dev) : library(its_library), dev(its_dev) {}
  ~OpenDevice() { close(); }
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;

  doca_error_t close() {
    const doca_error_t error = dev == nullptr ? DOCA_SUCCESS : library.devices().dev_close(dev);
    if (error == DOCA_SUCCESS) dev = nullptr;
    return error;
  }
};

// An open device. One that is never closed is closed with its handle, unless something still uses it.
class Device {
 public:
  Device(const Library& library, doca_dev* dev)
      : library_(library), open_(std::make_shared<OpenDevice>(library, dev)) {}

  const Library& library() const { return library_; }
  const DeviceFunctions& functions() const { return library_.devices(); }
  // Null once it is closed.
  doca_dev* get() const { return open_ == nullptr ? nullptr : open_->dev; }
  const std::shared_ptr<OpenDevice>& open() const { return open_; }
  doca_error_t close() {
    if (open_ == nullptr) return DOCA_SUCCESS;
    if (open_.use_count() > 1) return DOCA_ERROR_IN_USE;
    const doca_error_t error = open_->close();
    if (error == DOCA_SUCCESS) open_.reset();
    return error;
  }

  static void init(Napi::Object exports);

 private:
  const Library& library_;
  std::shared_ptr<OpenDevice> open_;
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
