#include "steering/actions/drop_reason.h"

namespace verbs::mlx5::steering {
namespace {

constexpr std::array<const char*, kDropReasons> kNames = {
    "action",   "miss", "no_tunnel",   "no_inner_mac", "no_inner_ip", "not_ip",
    "too_long", "mtu",  "no_headroom", "hop_limit",    "copy_limit",
};
static_assert(kNames.back() != nullptr);

}  // namespace

const char* name_of(DropReason reason) {
  const auto index = static_cast<std::size_t>(reason);
  return index < kDropReasons ? kNames[index] : "unknown";
}

}  // namespace verbs::mlx5::steering
