// ibv_query_gid and the GID table.
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstring>

#include "abi/objects/objects.h"

using namespace verbs::soft;

namespace {

// Copies the fields of ibv_gid_entry that the caller's header has.
void copy_entry(const ibv_gid_entry& entry, void* to, std::size_t size) {
  std::memset(to, 0, size);
  std::memcpy(to, &entry, std::min(size, sizeof entry));
}

int read_entry(ibv_context* context, std::uint32_t port_num, std::uint32_t index, ibv_gid_entry* entry) {
  if (port_num > UINT8_MAX || index > INT32_MAX) return EINVAL;
  wire::Gid gid;
  nic::GidKind kind;
  abi::Uses uses;
  if (const int error = uses.add(context)) return error;
  const int error = abi::control(context, [&](nic::Nic& nic, link::Nanos) {
    return nic.ports().query_gid(static_cast<std::uint8_t>(port_num), static_cast<int>(index), &gid, &kind);
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
    if (const int failed = read_entry(context, port_num, static_cast<std::uint32_t>(index), &entry)) return failed;
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
    if (const int error = read_entry(context, port_num, index, &found)) return error;
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
      if (verb([&] { return read_entry(context, port_num, index, &found); }) != 0) break;
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
  if (verb([&] { return read_entry(context, port_num, index, &entry); }) != 0) return -1;
  *type = entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? 1 : 0;
  return 0;
}

}  // extern "C"
