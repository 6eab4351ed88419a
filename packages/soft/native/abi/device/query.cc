// ibv_query_device, ibv_query_port, ibv_query_pkey.
#include "abi/device/query.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "abi/model/control_verbs.h"
#include "abi/objects/objects.h"
#include "nic/objects/odp.h"
#include "nic/shared/flush.h"

using namespace verbs::soft;

namespace verbs::soft::abi {

namespace {

// The part of ibv_port_attr that programs before 2018 have: up to and including phys_state, and the link layer.
constexpr std::size_t kOldPortAttrSize = offsetof(ibv_port_attr, flags);

// The clock of ibv_query_rt_values_ex() and of completions ticks in nanoseconds.
constexpr std::uint64_t kClockKilohertz = 1'000'000;

}  // namespace

int query_port(ibv_context* context, std::uint8_t port_num, ibv_port_attr* attr, std::size_t size) {
  Uses uses;
  if (const int error = uses.add(context)) return error;
  union {
    later::PortAttr later{};
    ibv_port_attr known;
  } full;
  const int error =
      control(context, [&](nic::Nic& nic, link::Nanos) { return nic.ports().query(port_num, &full.known); });
  if (error != 0) return error;
  full.later.active_speed_ex = full.known.active_speed;
  std::memset(attr, 0, size);
  std::memcpy(attr, &full, std::min(size, sizeof full));
  return 0;
}

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attr,
                    std::size_t size) {
  if (input && input->comp_mask != 0) return EINVAL;
  if (size < offsetof(ibv_device_attr_ex, odp_caps)) return EINVAL;  // too small for comp_mask
  Uses uses;
  if (const int error = uses.add(context)) return error;
  ibv_device_attr_ex full{};
  if (const int error = ibv_query_device(context, &full.orig_attr)) return error;
  full.device_cap_flags_ex =
      full.orig_attr.device_cap_flags | nic::kDeviceFlushGlobal | nic::kDeviceFlushPersistent | nic::kDeviceAtomicWrite;
  full.max_dm_size = static_cast<std::uint64_t>(of(context)->device->config().limits.max_dm_size);
  full.odp_caps = nic::kOdpCaps;
  full.xrc_odp_caps = nic::kXrcOdpCaps;
  // The other fields stay zero: there is no TSO, RSS, receive work queue, packet pacing, tag matching or PCI atomic.
  full.completion_timestamp_mask = UINT64_MAX;
  full.hca_core_clock = kClockKilohertz;
  full.cq_mod_caps = {.max_cq_count = UINT16_MAX, .max_cq_period = UINT16_MAX};
  if (const host::Device& device = *of(context)->device; device.has_raw_packets()) {
    full.raw_packet_caps = device.model()->raw_packet_caps;
  }
  full.phys_port_cnt_ex = full.orig_attr.phys_port_cnt;
  std::memset(attr, 0, size);
  std::memcpy(attr, &full, std::min(size, sizeof full));
  return 0;
}

int query_rt_values(ibv_context* context, ibv_values_ex* values) {
  if ((values->comp_mask & ~std::uint32_t{IBV_VALUES_MASK_RAW_CLOCK}) != 0) return EINVAL;
  Uses uses;
  if (const int error = uses.add(context)) return error;
  if (values->comp_mask == 0) return 0;
  return control(context, [&](nic::Nic&, link::Nanos now) {
    // All ticks are in tv_nsec, as in libmlx5: programs compare completion timestamps with that field.
    values->raw_clock = {.tv_sec = 0, .tv_nsec = now};
    return 0;
  });
}

}  // namespace verbs::soft::abi

extern "C" {

int soft_query_device(ibv_context* context, ibv_device_attr* attr) {
  abi::of(context)->adapter->core.nic().query_device(attr);
  const host::Device& device = *abi::of(context)->device;
  const verbs_soft_identity& identity = device.identity();
  std::snprintf(attr->fw_ver, sizeof attr->fw_ver, "%s", identity.fw_ver);
  attr->vendor_id = identity.vendor_id;
  attr->vendor_part_id = identity.vendor_part_id;
  attr->hw_ver = identity.hw_ver;
  return 0;
}

#undef ibv_query_port
int ibv_query_port(ibv_context* context, std::uint8_t port_num, _compat_ibv_port_attr* attr) {
  return verb([&] {
    return abi::query_port(context, port_num, reinterpret_cast<ibv_port_attr*>(attr), abi::kOldPortAttrSize);
  });
}

int ibv_query_port_speed(ibv_context* context, std::uint32_t port_num, std::uint64_t* port_speed) {
  return verb([&] {
    if (!port_speed || port_num > UINT8_MAX) return EINVAL;
    ibv_port_attr attr{};
    const int error = abi::query_port(context, static_cast<std::uint8_t>(port_num), &attr, sizeof attr);
    if (error != 0) return error;
    *port_speed = 4 * 250;  // 4X of 25 Gb/s, as active_width and active_speed say
    return 0;
  });
}

int ibv_query_pkey(ibv_context* context, std::uint8_t port_num, int index, __be16* pkey) {
  std::uint16_t value = 0;
  const int error = verb([&] {
    abi::Uses uses;
    if (const int missing = uses.add(context)) return missing;
    return abi::control(context,
                        [&](nic::Nic& nic, link::Nanos) { return nic.ports().query_pkey(port_num, index, &value); });
  });
  if (error != 0) return -1;
  *pkey = value;
  return 0;
}

int ibv_get_pkey_index(ibv_context* context, std::uint8_t port_num, __be16 pkey) {
  __be16 found = 0;
  for (int index = 0; ibv_query_pkey(context, port_num, index, &found) == 0; ++index) {
    if (found == pkey) return index;
  }
  return -1;
}

}  // extern "C"
