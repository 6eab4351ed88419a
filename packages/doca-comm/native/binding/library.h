// The loaded DOCA libraries: libdoca_common, and behind it the Comm Channel's, Comch's, or both.
#pragma once

#include <memory>
#include <string>

#include "binding/comch_functions.h"
#include "binding/functions.h"
#include "provider/napi_setup.h"

namespace verbs::doca_comm::binding {

class Library {
 public:
  // By a path or a SONAME. `nic` is our libibverbs, which our model of a DPU is handed; empty for the system's
  // libraries. On failure the result is null, and `reason` names the missing part. Loaded libraries stay.
  static Library* open(const std::string& common, const std::string& nic, std::string* reason);
  // Adds what lies behind it. False with the reason if it is missing, or lacks a function.
  bool open_channel(const std::string& file, std::string* reason);
  bool open_comch(const std::string& file, std::string* reason);

  const DeviceFunctions& devices() const { return devices_; }
  // Null without such a library.
  const ChannelFunctions* channel() const { return channel_.get(); }
  const EngineFunctions* engine() const { return engine_.get(); }
  const ComchFunctions* comch() const { return comch_.get(); }
  // Null without consumers and producers; fast_path_reason() names what is missing.
  const FastPathFunctions* fast_path() const { return fast_path_.get(); }
  const std::string& fast_path_reason() const { return fast_path_reason_; }
  // 'doca_comch_', or 'doca_cc_' of 2.5 and 2.6; empty without Comch.
  const std::string& prefix() const { return prefix_; }
  bool soft() const { return soft_; }
  // Fails calls of the model on purpose: 0 or a negative errno, ENOSYS for a system library.
  int set_faults(const char* plan) const;
  // Why the last listen of this thread failed, by the model: empty if it says no more, and for a system library.
  const char* last_error() const { return last_error_ ? last_error_() : ""; }

  static void init(Napi::Object exports);

 private:
  explicit Library(void* common) : common_(common) {}
  bool resolve_devices(std::string* reason);
  bool attach(const std::string& nic, std::string* reason);

  void* const common_;
  DeviceFunctions devices_;
  std::unique_ptr<ChannelFunctions> channel_;
  std::unique_ptr<EngineFunctions> engine_;
  std::unique_ptr<ComchFunctions> comch_;
  std::unique_ptr<FastPathFunctions> fast_path_;
  std::string fast_path_reason_;
  std::string prefix_;
  bool soft_ = false;
  int (*set_faults_)(const char*) = nullptr;
  const char* (*last_error_)() = nullptr;
};

}  // namespace verbs::doca_comm::binding
