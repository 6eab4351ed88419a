// The configuration text: which devices there are and how they are set up. The README of @verbs/soft has its table.
//
//   soft0,addr=127.0.0.1,mtu=1024;mlx5_soft0,kind=mlx5,ports=2
//
// Devices are separated by ';' or a line end, options by ','; '#' begins a comment. In a value, %2C, %3B, %23 and %25
// stand for ',', ';', '#' and '%'.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "link/faults/fault_link.h"
#include "nic/shared/limits.h"
#include "wire/gid.h"

namespace verbs::soft::host {

// Which links a port has. kAuto: within the process directly, else by UDP.
enum class Reach { kAuto, kUdp, kProcess };

struct CaptureConfig {
  std::string path;               // empty: no capture. %p is the process id, %d the device's name
  std::uint64_t max_bytes = 0;    // 0: no limit
  std::uint32_t snap_length = 0;  // 0: whole frames
};

// How a port starts, and what it is set to while it runs.
struct PortState {
  ibv_mtu mtu = IBV_MTU_4096;
  bool up = true;
};

struct DeviceConfig {
  std::string name;
  std::string kind = "roce";
  std::string model;                 // path of the model's library; empty if somebody else loads it
  std::vector<wire::Gid> addresses;  // empty: the first free loopback address
  int ports = 1;
  PortState port_state;                // of every port, as the text says
  std::vector<PortState> port_states;  // of each one
  Reach reach = Reach::kAuto;
  // -- of devices with raw packets
  std::string switch_name;  // the Ethernet switch of its ports; empty: the one of all that name none
  bool learning = true;     // the switch learns where addresses are from the frames that these ports send
  std::string tap;          // a network interface of the kernel at that switch; empty: none
  nic::Limits limits;
  CaptureConfig capture;
  link::FaultPlan faults;
  std::vector<std::pair<std::string, std::string>> model_options;  // keys that only the model knows
};

inline constexpr const char* kDefaultConfiguration = "soft0";

// One device of the text, taken apart but not yet understood.
struct DeviceText {
  std::string name;
  std::vector<std::pair<std::string, std::string>> options;
};

// These three return an empty string, or what is wrong: the device, the key, the value and what is allowed.
std::string split_configuration(std::string_view text, std::vector<DeviceText>* devices);
// Applies `defaults` (options alone, for example "ports=2,mtu=1024") and then the device's own options.
std::string read_device(const DeviceText& text, std::string_view defaults, DeviceConfig* config);
// Options of a fault plan alone, for example "drop=0.02,seed=7"; starts from a plan without faults.
std::string read_faults(std::string_view text, link::FaultPlan* plan);

// The text of a variable's value: the value itself, or the content of the file it names. A value is a path if a slash
// comes before the first ',', ';', '=' and line end: device names have none.
std::string load_text(std::string_view value, std::string* text);

// Replaces %p and %d.
std::string capture_path(const std::string& pattern, const std::string& device);

}  // namespace verbs::soft::host
