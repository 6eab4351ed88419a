#include "abi/device/query.h"

#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "abi/model/extension.h"
#include "abi/objects/objects.h"
#include "nic/base/guarded_memory.h"
#include "nic/objects/memory_region.h"
#include "nic/objects/tag_list.h"

// ibv_query_device, ibv_query_port, ibv_query_pkey.

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
  const int error = control(context, [&](nic::Nic& nic, link::Nanos) {
    const int failure = nic.ports().query(port_num, &full.known);
    if (failure != 0) {
      nic.explain(nic::Place::kQueryPort, failure, {nic::Reason::kNoPort, {port_num, nic.ports().size()}});
    }
    return failure;
  });
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
  // The other fields stay zero: there is no TSO, packet pacing or PCI atomic.
  full.tm_caps = {.max_rndv_hdr_size = nic::kMaxRendezvousRequest,
                  .max_num_tags = nic::kMaxTags,
                  .flags = IBV_TM_CAP_RC,
                  .max_ops = nic::kMaxTagOps,
                  .max_sge = nic::kMaxTagSges};
  full.completion_timestamp_mask = UINT64_MAX;
  full.hca_core_clock = kClockKilohertz;
  full.cq_mod_caps = {.max_cq_count = UINT16_MAX, .max_cq_period = UINT16_MAX};
  if (of(context)->device->has_raw_packets()) {
    const auto most = static_cast<std::uint32_t>(of(context)->device->config().limits.max_qp);
    full.rss_caps = {.supported_qpts = 1u << IBV_QPT_RAW_PACKET,
                     .max_rwq_indirection_tables = most,
                     .max_rwq_indirection_table_size = nic::kMaxIndirection,
                     .rx_hash_fields_mask = nic::kHashFields,
                     .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ};
    full.max_wq_type_rq = most;
  }
  // Of a model: the NIC's own flows neither compute checksums nor strip VLAN tags.
  if (const verbs_soft_model* model = of(context)->device->model()) full.raw_packet_caps = model->raw_packet_caps;
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

namespace {

// Says why a port has no such entry: `table` is the length of its table.
int refuse_entry(nic::Nic& nic, nic::Place place, std::uint8_t port_num, std::uint64_t index, std::uint64_t table) {
  const std::uint64_t ports = nic.ports().size();
  nic.explain(place, EINVAL,
              port_num >= 1 && port_num <= ports ? nic::Why{nic::Reason::kNoEntry, {port_num, index, table}}
                                                 : nic::Why{nic::Reason::kNoPort, {port_num, ports}});
  return EINVAL;
}

// `asks`: the program wants this entry, and does not look for the end of the table.
int query_pkey(ibv_context* context, std::uint8_t port_num, int index, __be16* pkey, bool asks) {
  std::uint16_t value = 0;
  abi::Uses uses;
  if (const int error = uses.add(context)) return error;
  const int error = abi::control(context, [&](nic::Nic& nic, link::Nanos) {
    const int failed = nic.ports().query_pkey(port_num, index, &value);
    if (failed == 0 || !asks) return failed;
    return refuse_entry(nic, nic::Place::kQueryPkey, port_num, static_cast<std::uint32_t>(index), 1);
  });
  if (error == 0) *pkey = value;
  return error;
}

}  // namespace

extern "C" {

int soft_query_device(ibv_context* context, ibv_device_attr* attr) {
  abi::of(context)->adapter->core.nic().query_device(attr);
  const host::Device& device = *abi::of(context)->device;
  const verbs_soft_identity& identity = device.identity();
  std::snprintf(attr->fw_ver, sizeof attr->fw_ver, "%s", identity.fw_ver);
  attr->vendor_id = identity.vendor_id;
  attr->vendor_part_id = identity.vendor_part_id;
  attr->hw_ver = identity.hw_ver;
  if (device.has_raw_packets()) attr->device_cap_flags |= IBV_DEVICE_MANAGED_FLOW_STEERING;
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
  return verb([&] { return query_pkey(context, port_num, index, pkey, true); }) == 0 ? 0 : -1;
}

int ibv_get_pkey_index(ibv_context* context, std::uint8_t port_num, __be16 pkey) {
  __be16 found = 0;
  for (int index = 0; verb([&] { return query_pkey(context, port_num, index, &found, false); }) == 0; ++index) {
    if (found == pkey) return index;
  }
  return -1;
}

}  // extern "C"

// ibv_query_gid and the GID table.

using namespace verbs::soft;

namespace {

// Copies the fields of ibv_gid_entry that the caller's header has.
void copy_entry(const ibv_gid_entry& entry, void* to, std::size_t size) {
  std::memset(to, 0, size);
  std::memcpy(to, &entry, std::min(size, sizeof entry));
}

// `asks`: the program wants this entry, and not just to see the table.
int read_entry(ibv_context* context, std::uint32_t port_num, std::uint32_t index, ibv_gid_entry* entry, bool asks) {
  if (port_num > UINT8_MAX || index > INT32_MAX) return EINVAL;
  wire::Gid gid;
  nic::GidKind kind;
  abi::Uses uses;
  if (const int error = uses.add(context)) return error;
  const int error = abi::control(context, [&](nic::Nic& nic, link::Nanos) {
    const auto port = static_cast<std::uint8_t>(port_num);
    const int failed = nic.ports().query_gid(port, static_cast<int>(index), &gid, &kind);
    if (failed == 0 && asks && !kind.holds_place) nic.ports()[port].ask(gid);
    if (failed == 0 || !asks) return failed;
    const nic::Port* known = nic.ports().find(port);
    return refuse_entry(nic, nic::Place::kQueryGid, port, index, known ? known->gids().size() : 0);
  });
  if (error != 0) return error;
  *entry = {};
  std::memcpy(entry->gid.raw, gid.bytes.data(), sizeof entry->gid.raw);
  entry->gid_index = index;
  entry->port_num = port_num;
  entry->gid_type = kind.roce_v1 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
  entry->ndev_ifindex = 0;  // the device has no network interface
  return 0;
}

bool is_empty(const ibv_gid_entry& entry) {
  static constexpr std::uint8_t kZero[16] = {};
  return std::memcmp(entry.gid.raw, kZero, sizeof kZero) == 0;
}

}  // namespace

extern "C" {

int ibv_query_gid(ibv_context* context, std::uint8_t port_num, int index, ibv_gid* gid) {
  const int error = verb([&] {
    ibv_gid_entry entry;
    if (index < 0) return EINVAL;
    if (const int failed = read_entry(context, port_num, static_cast<std::uint32_t>(index), &entry, true))
      return failed;
    *gid = entry.gid;
    return 0;
  });
  return error == 0 ? 0 : -1;
}

int _ibv_query_gid_ex(ibv_context* context, std::uint32_t port_num, std::uint32_t index, ibv_gid_entry* entry,
                      std::uint32_t flags, std::size_t size) {
  return verb([&] {
    if (flags != 0 || size == 0) return EINVAL;
    ibv_gid_entry found;
    if (const int error = read_entry(context, port_num, index, &found, true)) return error;
    if (is_empty(found)) return ENODATA;
    copy_entry(found, entry, size);
    return 0;
  });
}

ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, std::size_t count, std::uint32_t flags,
                             std::size_t size) {
  if (flags != 0 || size == 0) return failure<ssize_t>(EINVAL);
  ibv_device_attr device;
  if (const int error = ibv_query_device(context, &device)) return failure<ssize_t>(error);
  std::size_t filled = 0;
  for (std::uint32_t port_num = 1; port_num <= device.phys_port_cnt; ++port_num) {
    ibv_gid_entry found;
    for (std::uint32_t index = 0;; ++index) {
      if (verb([&] { return read_entry(context, port_num, index, &found, false); }) != 0) break;
      if (is_empty(found)) continue;
      if (filled == count) return failure<ssize_t>(EINVAL);
      copy_entry(found, reinterpret_cast<char*>(entries) + filled++ * size, size);
    }
  }
  return static_cast<ssize_t>(filled);
}

// A private symbol of rdma-core that ibv_devinfo and pyverbs use. Its values: 0 is InfiniBand and RoCE v1, 1 is RoCE
// v2.
int ibv_query_gid_type(ibv_context* context, std::uint8_t port_num, unsigned int index, unsigned int* type) {
  ibv_gid_entry entry;
  if (verb([&] { return read_entry(context, port_num, index, &entry, false); }) != 0) return -1;
  *type = entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? 1 : 0;
  return 0;
}

}  // extern "C"
