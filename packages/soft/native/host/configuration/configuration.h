// The configuration text: the devices and their options. The README of @verbs/soft has a table of the options.
//
//   soft0,addr=127.0.0.1,mtu=1024;mlx5_soft0,kind=mlx5,ports=2
//
// Devices are separated by ';' or a line end, options by ','; '#' begins a comment. In a value, %2C, %3B, %23 and %25
// mean ',', ';', '#' and '%'. Instead of a device, "*,OPTIONS" gives options of every device, which come behind its
// own.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "link/faults/fault_link.h"
#include "link/udp/foreign_peers.h"
#include "nic/base/limits.h"
#include "nic/objects/ports.h"
#include "wire/gid.h"

namespace verbs::soft::host {

// Which links a port has. kAuto: direct within the process, shared memory to other processes of the user on this host,
// and UDP to all others. kShm: the same without the direct one. kUdp: UDP alone. kProcess: only within the process.
enum class Reach { kAuto, kShm, kUdp, kProcess };

struct CaptureConfig {
  std::string path;               // empty: no capture. %p is the process id, %d the device's name
  std::uint64_t max_bytes = 0;    // 0: no limit
  std::uint32_t snap_length = 0;  // 0: whole frames
};

// The state in which a port starts, and to which it is set while it runs.
struct PortState {
  ibv_mtu mtu = IBV_MTU_4096;
  bool up = true;
};

struct DeviceConfig {
  std::string name;
  std::string kind = "roce";
  std::string model;                 // path of the model's library; empty if the program loads the model
  std::vector<wire::Gid> addresses;  // empty: the first free loopback address
  bool offers_host = false;          // … and those of the machine behind it, each bound when a program uses it
  std::vector<wire::Gid> elsewhere;  // which other devices of the configuration have
  int ports = 1;
  PortState port_state;                // of every port, from the text
  std::vector<PortState> port_states;  // of each port
  Reach reach = Reach::kAuto;
  nic::Rules rules;
  nic::GidShape gid_shape = nic::GidShape::kPlain;
  std::shared_ptr<const link::ForeignPeers> foreign = std::make_shared<link::ForeignPeers>();
  // -- of devices with raw packets
  std::string switch_name;  // the Ethernet switch of its ports; empty: the switch of all devices without a name for it
  bool learning = true;     // the switch learns addresses from the frames of these ports
  std::string tap;          // a network interface of the kernel at that switch; empty: none
  nic::Limits limits;
  CaptureConfig capture;
  link::FaultPlan faults;
  std::vector<std::pair<std::string, std::string>> model_options;  // options that only the model knows
};

inline constexpr const char* kDefaultConfiguration = "soft0";

using OptionTexts = std::vector<std::pair<std::string, std::string>>;

// One device of the text: its name and its options, not yet interpreted.
struct DeviceText {
  std::string name;
  OptionTexts options;
};

// These three return an empty string, or an error text with the device, the key, the value and the allowed values.
// The devices have the options of every device already; `every` gets them for devices that are added later.
std::string split_configuration(std::string_view text, std::vector<DeviceText>* devices, OptionTexts* every = nullptr);
// The variable VERBS_SOFT_LINK replaces the default of link=. Applies `defaults` (only options, for example
// "ports=2,mtu=1024") and then the device's own options.
std::string read_device(const DeviceText& text, std::string_view defaults, DeviceConfig* config);
// Reads only the options of a fault plan, for example "drop=0.02,seed=7"; starts from a plan without faults.
std::string read_faults(std::string_view text, link::FaultPlan* plan);

// The text of a variable's value: the value itself, or the content of the file that it names. A value is a path if it
// has a slash before the first ',', ';', '=' and line end: device names have no slash.
std::string load_text(std::string_view value, std::string* text);

// Replaces %p and %d.
std::string capture_path(const std::string& pattern, const std::string& device);

// IP addresses as text.

// Accepts "127.0.0.1", "::1", "fe80::1". nullopt for anything else, also for an address with a zone index.
std::optional<wire::Gid> parse_address(std::string_view text);
std::string format_address(const wire::Gid& gid);
// Accepts an address, "10.0.0.0/24", "fd00::/64" (bits behind the length must be 0) and "*" for all addresses.
std::optional<link::Network> parse_network(std::string_view text);

// Whether an interface can have the address: it is not zero, 0.0.0.0 or multicast.
bool is_unicast(const wire::Gid& gid);

// 127.0.0.N
wire::Gid loopback_address(int n);

}  // namespace verbs::soft::host
