#include "host/configuration/option.h"

#include <optional>

#include "host/configuration/configuration.h"
#include "host/configuration/fault_option.h"
#include "nic/objects/ports.h"

namespace verbs::soft::host {
namespace {

struct Limit {
  const char* key;
  int nic::Limits::* member;
  int low;
  int high;
};

// The upper bounds follow from the NIC's number spaces and the structures of the verbs.
constexpr Limit kLimits[] = {
    {"max_qp", &nic::Limits::max_qp, 1, 1 << 20},
    {"max_qp_wr", &nic::Limits::max_qp_wr, 1, 1 << 20},
    {"max_sge", &nic::Limits::max_sge, 1, 32},
    {"max_sge_rd", &nic::Limits::max_sge_rd, 1, 32},
    {"max_inline_data", &nic::Limits::max_inline_data, 0, 512},
    {"max_cq", &nic::Limits::max_cq, 1, 1 << 20},
    {"max_cqe", &nic::Limits::max_cqe, 1, 1 << 20},
    {"max_mr", &nic::Limits::max_mr, 1, (1 << 19) - 1},
    {"max_mw", &nic::Limits::max_mw, 1, (1 << 19) - 1},
    {"max_pd", &nic::Limits::max_pd, 1, 1 << 20},
    {"max_ah", &nic::Limits::max_ah, 1, 1 << 20},
    {"max_dm_size", &nic::Limits::max_dm_size, 0, 1 << 30},
    {"max_mcast_grp", &nic::Limits::max_mcast_grp, 0, 1 << 20},
    {"max_mcast_qp_attach", &nic::Limits::max_mcast_qp_attach, 0, 1 << 20},
    {"max_srq", &nic::Limits::max_srq, 1, 1 << 20},
    {"max_srq_wr", &nic::Limits::max_srq_wr, 1, 1 << 20},
    {"max_srq_sge", &nic::Limits::max_srq_sge, 1, 32},
    {"max_qp_rd_atom", &nic::Limits::max_qp_rd_atom, 1, 128},
    {"max_qp_init_rd_atom", &nic::Limits::max_qp_init_rd_atom, 1, 128},
};

std::string set_mtu(const std::string& value, DeviceConfig* config) {
  const std::optional<ibv_mtu> mtu = parse_mtu(value);
  if (!mtu) return reject("mtu", value, "256, 512, 1024, 2048 or 4096");
  config->port_state.mtu = *mtu;
  return {};
}

std::string set_state(const std::string& value, DeviceConfig* config) {
  if (value != "up" && value != "down") return reject("state", value, "up or down");
  config->port_state.up = value == "up";
  return {};
}

std::string set_link(const std::string& value, DeviceConfig* config) {
  if (value == "auto") {
    config->reach = Reach::kAuto;
  } else if (value == "shm") {
    config->reach = Reach::kShm;
  } else if (value == "udp") {
    config->reach = Reach::kUdp;
  } else if (value == "process") {
    config->reach = Reach::kProcess;
  } else {
    return reject("link", value, "auto, shm, udp or process");
  }
  return {};
}

std::string set_tap(const std::string& value, DeviceConfig* config) {
  constexpr std::size_t kLongest = 15;  // IFNAMSIZ without the terminating zero
  const bool named = !value.empty() && value.size() <= kLongest && value != "." && value != ".." &&
                     value.find_first_of("/:% \t\n") == std::string::npos;
  if (!named) return reject("tap", value, "the name of a network interface to make, up to 15 characters, such as tap0");
  config->tap = value;
  return {};
}

std::string set_flag(const std::string& key, const std::string& value, bool* target) {
  if (value != "0" && value != "1") return reject(key, value, "0 or 1");
  *target = value == "1";
  return {};
}

std::string add_address(const std::string& value, DeviceConfig* config) {
  const auto address = parse_address(value);
  if (!address || !is_unicast(*address)) {
    return reject("addr", value, "an IPv4 or IPv6 address of this machine, for example 127.0.0.5");
  }
  for (const wire::Gid& other : config->addresses) {
    if (other == *address) return "addr=" + value + " is given twice";
  }
  config->addresses.push_back(*address);
  return {};
}

std::string add_foreign(const std::string& value, DeviceConfig* config) {
  auto peers = std::make_shared<link::ForeignPeers>(*config->foreign);
  if (value == "none") {
    peers->close();
    config->foreign = std::move(peers);
    return {};
  }
  for (const std::string& text : split(value, '|')) {
    const auto network = parse_network(text);
    if (!network) {
      return reject("foreign", value,
                    "none, addresses (10.0.0.7, fd00::7), networks (10.0.0.0/24, fd00::/64) or * for every peer, with "
                    "| between several");
    }
    peers->add(*network);
  }
  config->foreign = std::move(peers);
  return {};
}

std::string set_profile(const std::string& value, DeviceConfig* config) {
  if (value != "mlx5" && value != "rxe") return reject("profile", value, "mlx5 or rxe");
  const bool strict = config->rules.strict;
  config->rules = value == "rxe" ? nic::Rules::rxe() : nic::Rules::mlx5();
  config->rules.strict = strict;
  return {};
}

// What a model says of its devices, where doorbells take the place of posts: the slots are the program's own to count.
std::string set_slots(const std::string& value, DeviceConfig* config) {
  if (value != "polled" && value != "executed") return reject("slots", value, "polled or executed");
  config->rules.slots_until_polled = value == "polled";
  return {};
}

std::string set_gids(const std::string& value, DeviceConfig* config) {
  if (value == "plain") {
    config->gid_shape = nic::GidShape::kPlain;
  } else if (value == "rxe") {
    config->gid_shape = nic::GidShape::kRxe;
  } else if (value == "mlx5") {
    config->gid_shape = nic::GidShape::kMlx5;
  } else {
    return reject("gids", value, "plain, rxe or mlx5");
  }
  return {};
}

std::string set_text(const std::string& key, const std::string& value, std::string* target) {
  if (value.empty()) return reject(key, value, "a text that is not empty");
  *target = value;
  return {};
}

std::optional<std::string> apply_limit(const std::string& key, const std::string& value, nic::Limits* limits) {
  for (const Limit& limit : kLimits) {
    if (key == limit.key) return set_number<int>(key, value, limit.low, limit.high, &(limits->*limit.member));
  }
  if (key == "max_msg_size") return set_number<std::uint32_t>(key, value, 1, 1u << 31, &limits->max_msg_size);
  return std::nullopt;
}

std::string known_keys() {
  std::string keys =
      "kind, model, addr, ports, mtu, state, link, foreign, gids, profile, slots, strict, switch, learning, tap, "
      "capture, "
      "capture_limit, "
      "snap, " +
      fault_option_keys();
  for (const Limit& limit : kLimits) keys += std::string(", ") + limit.key;
  return keys + ", max_msg_size";
}

}  // namespace

std::optional<ibv_mtu> parse_mtu(const std::string& bytes) {
  for (const ibv_mtu mtu : {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096}) {
    if (bytes == std::to_string(nic::mtu_bytes(mtu))) return mtu;
  }
  return std::nullopt;
}

std::string apply_option(const std::string& key, const std::string& value, DeviceConfig* config) {
  constexpr int kMaxPorts = 63;  // masks of 64 bits have bit n for port n
  if (key == "kind") return set_text(key, value, &config->kind);
  if (key == "model") return set_text(key, value, &config->model);
  if (key == "addr") return add_address(value, config);
  if (key == "mtu") return set_mtu(value, config);
  if (key == "state") return set_state(value, config);
  if (key == "link") return set_link(value, config);
  if (key == "foreign") return add_foreign(value, config);
  if (key == "gids") return set_gids(value, config);
  if (key == "slots") return set_slots(value, config);
  // Of a vendor's device the model has the profile.
  if (key == "profile" && config->kind == "roce") return set_profile(value, config);
  if (key == "strict") return set_flag(key, value, &config->rules.strict);
  if (key == "switch") return set_text(key, value, &config->switch_name);
  if (key == "learning") return set_flag(key, value, &config->learning);
  if (key == "tap") return set_tap(value, config);
  if (key == "ports") return set_number<int>(key, value, 1, kMaxPorts, &config->ports);
  if (key == "capture") return set_text(key, value, &config->capture.path);
  if (key == "capture_limit") {
    return set_number<std::uint64_t>(key, value, 0, UINT64_MAX, &config->capture.max_bytes);
  }
  if (key == "snap") return set_number<std::uint32_t>(key, value, 0, wire::kMaxFrame, &config->capture.snap_length);
  if (auto result = apply_fault_option(key, value, &config->faults)) return *result;
  if (auto result = apply_limit(key, value, &config->limits)) return *result;
  if (config->kind == "roce") return "unknown option " + key + "; there are " + known_keys();
  config->model_options.emplace_back(key, value);  // checked when the model is there
  return {};
}

}  // namespace verbs::soft::host
