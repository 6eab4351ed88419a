// A representor that JavaScript has open: the DPU's name for a function of its host.
#pragma once

#include "binding/device.h"

namespace verbs::doca_comm::binding {

// An open doca_dev_rep. A server of Comch keeps it, so that it is closed after it.
struct OpenRepresentor {
  const std::shared_ptr<OpenDevice> device;
  doca_dev_rep* rep;

  OpenRepresentor(std::shared_ptr<OpenDevice> its_device, doca_dev_rep* its_rep)
      : device(std::move(its_device)), rep(its_rep) {}
  ~OpenRepresentor() { close(); }
  OpenRepresentor(const OpenRepresentor&) = delete;
  OpenRepresentor& operator=(const OpenRepresentor&) = delete;

  doca_error_t close() {
    const doca_error_t error = rep == nullptr ? DOCA_SUCCESS : device->library.devices().rep_close(rep);
    if (error == DOCA_SUCCESS) rep = nullptr;
    return error;
  }
};

// An open representor of a host's function.
class Representor {
 public:
  Representor(const std::shared_ptr<OpenDevice>& device, doca_dev_rep* rep)
      : library_(device->library), open_(std::make_shared<OpenRepresentor>(device, rep)) {}

  const Library& library() const { return library_; }
  // Null once it is closed.
  doca_dev_rep* get() const { return open_ == nullptr ? nullptr : open_->rep; }
  const std::shared_ptr<OpenRepresentor>& open() const { return open_; }
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
  std::shared_ptr<OpenRepresentor> open_;
};

}  // namespace verbs::doca_comm::binding
