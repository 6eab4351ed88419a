// A representor that JavaScript has open: the DPU's name for a function of its host.
#pragma once

#include "binding/handle.h"

namespace verbs::doca_comm::binding {

// An open representor of a host's function.
class Representor {
 public:
  Representor(const Functions& functions, doca_dev_rep* rep) : functions_(functions), rep_(rep) {}
  ~Representor() { close(); }
  Representor(const Representor&) = delete;
  Representor& operator=(const Representor&) = delete;

  const Functions& functions() const { return functions_; }
  doca_dev_rep* get() const { return rep_; }
  doca_error_t close() {
    if (!rep_) return DOCA_SUCCESS;
    const doca_error_t error = functions_.rep_close(rep_);
    if (error == DOCA_SUCCESS) rep_ = nullptr;
    return error;
  }

  static void init(Napi::Object exports);

 private:
  const Functions& functions_;
  doca_dev_rep* rep_;
};

}  // namespace verbs::doca_comm::binding
