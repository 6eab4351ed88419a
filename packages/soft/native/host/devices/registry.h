// The devices of this process, and the models of their kinds. There is one registry in a process, also if the process
// uses both of our libibverbs.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/devices/device.h"
#include "host/models/models.h"
#include "host/publication/publisher.h"
#include "verbs_soft_extension.h"
#include "verbs_soft_fair_lock.h"

namespace verbs::soft::host {

class Registry {
 public:
  static Registry& get();

  // Calls that can fail return 0 or fail()'s errno.

  // Replaces the configuration; nullptr goes back to the variable VERBS_SOFT. EBUSY while a device is open.
  int configure(const char* text);
  int add_devices(const char* text);
  // `extension` is handed to the libraries of "model=PATH" options. Devices whose kind has no model are left out, and
  // the last error says why.
  int list(verbs_soft_extension_function extension, std::vector<Device*>* devices);

  int add_model(const verbs_soft_model* model);
  int ensure_device(const char* kind);

  // nullptr if the device is not ours. Also finds devices of an earlier configuration, which old lists may still hold.
  Device* find(const ibv_device* ibv);
  Device* find(const std::string& name);
  Device* at(std::size_t index);

  int open(const ibv_device* ibv, Device** device, Adapter** adapter);
  void close(Device* device, Adapter* adapter);

  // Runs `call(device)` under the lock. ENODEV if there is no device of that name.
  template <typename Call>
  int with(const std::string& name, Call&& call) {
    const std::lock_guard guard(mutex_);
    if (const int error = configure_once()) return error;
    Device* device = find_locked(name);
    const int error = device ? call(*device) : no_device(name);
    show_changes();
    return error;
  }

  // What the process publishes about its open devices.
  std::string report();

  void flush_at_exit();

 private:
  struct Entry {
    DeviceText text;
    Device* device = nullptr;  // created when its kind has a model
  };

  Registry();
  int configure_once();
  // `also`: options of every device, beside those of the text.
  int replace(const std::string& text, const OptionTexts& also);
  static OptionTexts every_device_of_variable();
  bool any_open() const;
  int no_device(const std::string& name) const;
  Device* find_locked(const std::string& name);
  std::vector<wire::Gid> configured_addresses() const;
  int make_device(Entry& entry, verbs_soft_extension_function extension);
  void make_all();
  void show_changes();
  std::uint64_t next_instance();
  int free_number() const;

  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();
  void forget_parent();

  // Recursive: list() loads libraries of models, and these register their models.
  FairLock mutex_;
  bool configured_ = false;
  bool changed_ = false;      // the list of devices, since the machine saw them
  OptionTexts every_device_;  // options of the configuration that devices get which are added later
  std::vector<Entry> entries_;
  // Every device that was ever created: pointers from old lists stay valid.
  std::vector<std::unique_ptr<Device>> devices_;
  Models models_;
  std::unique_ptr<Publisher> publisher_;  // while a device is open
  std::uint64_t instances_ = 0;
  std::uint16_t instance_count_ = 0;
};

}  // namespace verbs::soft::host
