// A configured device, as ibv_get_device_list() returns it. It claims no address and starts no thread until it is
// opened.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/adapter/adapter.h"
#include "host/configuration/configuration.h"
#include "host/models/verbs_device.h"
#include "verbs_soft_extension.h"

namespace verbs::soft::host {

// "0200:00ff:fe00:0001", with a line end.
std::string guid_text(std::uint64_t guid);

// Guarded by the registry's lock.
class Device {
 public:
  // `model` is nullptr for the kind "roce".
  // `instance` is another one in each process; `number` is that of the device's uverbs node: /dev/infiniband/uverbs0.
  Device(DeviceConfig config, const verbs_soft_model* model, std::uint64_t instance, int number);

  // Lets the model describe its device. 0 or fail()'s errno.
  int init();

  ibv_device* ibv() { return &verbs_device_.ibv; }
  const DeviceConfig& config() const { return config_; }
  const verbs_soft_model* model() const { return model_; }
  bool has_raw_packets() const { return FrameHook{model_, nullptr}.has_raw_packets(); }
  const verbs_soft_identity& identity() const { return identity_; }
  // Processes of this user on this machine that have the device have one GUID for it, as for an adapter.
  std::uint64_t guid() const { return guid_; }
  int number() const { return number_; }
  // The value of one of the model's own options; nullptr if it is not given.
  const char* option(const std::string& key) const;
  // The files that attribute() knows.
  static constexpr const char* kAttributes[] = {"board_id",  "fw_ver",    "hca_type",  "hw_rev",
                                                "node_desc", "node_guid", "node_type", "sys_image_guid"};
  // The content of a file in ibdev_path, with its line end; empty if there is no such file.
  std::string attribute(const std::string& file) const;

  int open(Adapter** adapter);  // 0 or fail()'s errno
  void close();
  bool is_open() const { return adapter_ != nullptr; }
  Adapter* adapter() { return adapter_.get(); }

  int start_capture(CaptureConfig capture);
  int stop_capture();
  void set_faults(const link::FaultPlan& plan);
  // Calls `rule` for each rule of the plan that has an effect, with its counters since the plan was set.
  using Rule = std::function<void(const std::string& text, const link::RuleCounters& counters)>;
  void report_faults(const Rule& rule);
  // Port 0 means all ports. These two also work on a device that is not open. 0 or fail()'s errno.
  int set_link(unsigned port_num, bool up);
  int set_mtu(unsigned port_num, ibv_mtu mtu);
  // Of an open device; until its last close.
  int add_gid(unsigned port_num, const wire::Gid& gid, std::uint32_t* index);
  int remove_gid(unsigned port_num, const wire::Gid& gid);
  int fail_open();
  void report_counters(const Counter& counter);
  // A counter that the model increments, under the lock of the adapter while the device is open.
  std::uint64_t* model_counter(const std::string& name) { return &model_counters_[name]; }

  // Whether it looks different than at the last call.
  bool take_change() { return std::exchange(changed_, false); }

  // In a forked child: open contexts belong to the parent, and this device can be opened anew.
  void forget_parent(std::uint64_t instance);

 private:
  void set_mac(std::uint64_t instance);
  std::vector<FollowedCounter> followed_counters() const;
  int check_port(unsigned port_num) const;
  int check_open() const;
  template <typename Change>
  int change_ports(unsigned port_num, Change&& change);

  DeviceConfig config_;
  const verbs_soft_model* model_;
  std::uint64_t guid_;
  int number_;
  VerbsDevice verbs_device_{};
  verbs_soft_identity identity_{};
  std::unique_ptr<Adapter> adapter_;
  int open_count_ = 0;
  bool changed_ = true;
  std::map<std::string, std::uint64_t> closed_counters_;  // sums of earlier opens
  std::map<std::string, std::uint64_t> model_counters_;
};

}  // namespace verbs::soft::host
