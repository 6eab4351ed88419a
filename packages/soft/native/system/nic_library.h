// The NIC of this process: the one that the program's libibverbs has loaded, else the one beside this library.
#pragma once

#include <string>
#include <vector>

#include "verbs_soft.h"

namespace verbs::soft::system {

class NicLibrary {
 public:
  // nullptr if the NIC cannot be loaded.
  static const NicLibrary* get();

  std::vector<std::string> device_names() const;
  // Calls `visit(path, content)` as verbs_soft_sysfs() does.
  template <typename Visit>
  void visit(const std::string& device, Visit&& visit) const {
    sysfs_(
        device.c_str(),
        [](void* data, const char* path, const char* content) { (*static_cast<Visit*>(data))(path, content); }, &visit);
  }
  // Calls `visit(pid, report)` as verbs_soft_processes() does.
  template <typename Visit>
  void visit_processes(Visit&& visit) const {
    processes_([](void* data, int pid, const char* report) { (*static_cast<Visit*>(data))(pid, report); }, &visit);
  }

 private:
  bool load();

  decltype(&verbs_soft_device_name) device_name_ = nullptr;
  decltype(&verbs_soft_sysfs) sysfs_ = nullptr;
  decltype(&verbs_soft_processes) processes_ = nullptr;
};

}  // namespace verbs::soft::system
