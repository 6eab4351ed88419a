// A pair of loaded DOCA libraries.
#pragma once

#include <string>

#include "binding/functions.h"
#include "provider/napi_setup.h"

namespace verbs::doca_comm::binding {

class Library {
 public:
  // By paths or SONAMEs. `nic` is our libibverbs, which our model of a DPU is handed; empty for the system's libraries.
  // On failure the result is null, and `reason` names the missing part. Loaded libraries stay.
  static const Library* open(const std::string& common, const std::string& channel, const std::string& nic,
                             std::string* reason);

  const Functions& functions() const { return functions_; }
  bool soft() const { return soft_; }
  // Fails calls of the model on purpose: 0 or a negative errno, ENOSYS for a system library.
  int set_faults(const char* plan) const;
  // Why the last listen of this thread failed, by the model: empty if it says no more, and for a system library.
  const char* last_error() const { return last_error_ ? last_error_() : ""; }

  static void init(Napi::Object exports);

 private:
  bool resolve(void* common, void* channel, std::string* reason);
  bool attach(void* common, const std::string& nic, std::string* reason);

  Functions functions_;
  bool soft_ = false;
  int (*set_faults_)(const char*) = nullptr;
  const char* (*last_error_)() = nullptr;
};

}  // namespace verbs::doca_comm::binding
