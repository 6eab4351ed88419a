// The texts of enumerations, equal to those of libibverbs: programs print and compare them.
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>

#include "host/devices/registry.h"
#include "host/devices/sysfs.h"
#include "verbs_soft_boundary.h"

namespace {

template <std::size_t n>
const char* name_in(const char* const (&texts)[n], int value) {
  const bool known = value >= 0 && static_cast<std::size_t>(value) < n && texts[value];
  return known ? texts[value] : "unknown";
}

}  // namespace

extern "C" {

const char* ibv_wc_status_str(ibv_wc_status status) {
  static const char* const kTexts[] = {
      "success",
      "local length error",
      "local QP operation error",
      "local EE context operation error",
      "local protection error",
      "Work Request Flushed Error",
      "memory management operation error",
      "bad response error",
      "local access error",
      "remote invalid request error",
      "remote access error",
      "remote operation error",
      "transport retry counter exceeded",
      "RNR retry counter exceeded",
      "local RDD violation error",
      "remote invalid RD request",
      "aborted error",
      "invalid EE context number",
      "invalid EE context state",
      "fatal error",
      "response timeout error",
      "general error",
      "TM error",
      "TM software rendezvous",
  };
  return name_in(kTexts, status);
}

const char* ibv_event_type_str(ibv_event_type event) {
  static const char* const kTexts[] = {
      "CQ error",
      "local work queue catastrophic error",
      "invalid request local work queue error",
      "local access violation work queue error",
      "communication established",
      "send queue drained",
      "path migrated",
      "path migration request error",
      "local catastrophic error",
      "port active",
      "port error",
      "LID change",
      "P_Key change",
      "SM change",
      "SRQ catastrophic error",
      "SRQ limit reached",
      "last WQE reached",
      "client reregistration",
      "GID table change",
      "WQ fatal",
      "Device link speed change",
  };
  return name_in(kTexts, event);
}

const char* ibv_node_type_str(ibv_node_type type) {
  static const char* const kTexts[] = {
      nullptr,
      "InfiniBand channel adapter",
      "InfiniBand switch",
      "InfiniBand router",
      "iWARP NIC",
      "usNIC",
      "usNIC UDP",
      "unspecified",
  };
  return name_in(kTexts, type);
}

// Of rdma-core's private functions; its own programs call it.
const char* ibv_wr_opcode_str(ibv_wr_opcode opcode) {
  static const char* const kTexts[] = {
      "rdma-write",
      "rdma-write-with-imm",
      "send",
      "send-with-imm",
      "rdma-read",
      "atomic-cmp-and-swp",
      "atomic-fetch-and-add",
      "local-inv",
      "bind-mw",
      "send-with-inv",
      "tso",
      "driver1",
      nullptr,
      nullptr,
      "flush",
      "atomic-write",
  };
  return name_in(kTexts, opcode);
}

const char* ibv_port_state_str(ibv_port_state state) {
  static const char* const kTexts[] = {"no state change (NOP)", "down", "init", "armed", "active", "active defer"};
  return name_in(kTexts, state);
}

}  // extern "C"

namespace {

// Static rates, their multiples of 2.5 Gb/s and their Mb/s.

struct Rate {
  ibv_rate rate;
  int multiple;  // -1: not a multiple of 2.5 Gb/s
  int mbps;
};

constexpr Rate kRates[] = {
    {IBV_RATE_2_5_GBPS, 1, 2500},     {IBV_RATE_5_GBPS, 2, 5000},         {IBV_RATE_10_GBPS, 4, 10000},
    {IBV_RATE_20_GBPS, 8, 20000},     {IBV_RATE_30_GBPS, 12, 30000},      {IBV_RATE_40_GBPS, 16, 40000},
    {IBV_RATE_60_GBPS, 24, 60000},    {IBV_RATE_80_GBPS, 32, 80000},      {IBV_RATE_120_GBPS, 48, 120000},
    {IBV_RATE_14_GBPS, -1, 14062},    {IBV_RATE_56_GBPS, -1, 56250},      {IBV_RATE_112_GBPS, -1, 112500},
    {IBV_RATE_168_GBPS, -1, 168750},  {IBV_RATE_25_GBPS, -1, 25781},      {IBV_RATE_100_GBPS, -1, 103125},
    {IBV_RATE_200_GBPS, -1, 206250},  {IBV_RATE_300_GBPS, -1, 309375},    {IBV_RATE_28_GBPS, 11, 28125},
    {IBV_RATE_50_GBPS, 20, 53125},    {IBV_RATE_400_GBPS, 160, 425000},   {IBV_RATE_600_GBPS, 240, 637500},
    {IBV_RATE_800_GBPS, 320, 850000}, {IBV_RATE_1200_GBPS, 480, 1275000},
};

// The row whose `member` is `value`, or nullptr.
template <typename T>
const Rate* find(T Rate::* member, T value) {
  for (const Rate& rate : kRates) {
    if (rate.*member == value) return &rate;
  }
  return nullptr;
}

}  // namespace

extern "C" {

int ibv_rate_to_mult(ibv_rate rate) {
  const Rate* found = find(&Rate::rate, rate);
  return found ? found->multiple : -1;
}

int ibv_rate_to_mbps(ibv_rate rate) {
  const Rate* found = find(&Rate::rate, rate);
  return found ? found->mbps : -1;
}

ibv_rate mult_to_ibv_rate(int multiple) {
  const Rate* found = multiple > 0 ? find(&Rate::multiple, multiple) : nullptr;
  return found ? found->rate : IBV_RATE_MAX;
}

ibv_rate mbps_to_ibv_rate(int mbps) {
  const Rate* found = find(&Rate::mbps, mbps);
  return found ? found->rate : IBV_RATE_MAX;
}

}  // extern "C"

// ibv_get_sysfs_path and ibv_read_sysfs_file. Our devices have no folder in the kernel's /sys: the files that programs
// read there have their content from here.

using namespace verbs::soft;

namespace {

// The content of `file` in the ibdev_path of one of our devices; nullopt for any other folder.
std::optional<std::string> soft_file(const std::string& folder, const std::string& file) {
  const std::string prefix = "/sys/class/infiniband/";
  if (folder.compare(0, prefix.size(), prefix) != 0) return std::nullopt;
  const std::string name = folder.substr(prefix.size(), folder.find('/', prefix.size()) - prefix.size());
  std::string path = folder.substr(prefix.size() + name.size()) + "/" + file;
  path.erase(0, path.find_first_not_of('/'));
  std::optional<std::string> found;
  const int error = host::Registry::get().with(name, [&](host::Device& device) {
    found = host::read_sysfs(device, path).value_or("");
    return 0;
  });
  return error == 0 ? found : std::nullopt;
}

int read_file(const std::string& path, char* buf, std::size_t size) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const ssize_t length = read(fd, buf, size);
  const int error = errno;
  close(fd);
  errno = error;
  return length < 0 ? -1 : static_cast<int>(length);
}

// Cuts off the line end, terminates the text if there is room, and returns the length without the line end.
int finish(char* buf, std::size_t size, int length) {
  if (length > 0 && buf[length - 1] == '\n') buf[--length] = '\0';
  if (static_cast<std::size_t>(length) < size) {
    buf[length] = '\0';
  } else if (size > 0) {
    buf[size - 1] = '\0';
  }
  return length;
}

int read_any(const char* dir, const char* file, char* buf, std::size_t size) {
  if (const auto content = soft_file(dir, file)) {
    if (content->empty()) {
      errno = ENOENT;
      return -1;
    }
    const std::size_t length = content->copy(buf, size);
    return finish(buf, size, static_cast<int>(length));
  }
  const int length = read_file(std::string(dir) + "/" + file, buf, size);
  return length < 0 ? -1 : finish(buf, size, length);
}

}  // namespace

extern "C" {

const char* ibv_get_sysfs_path() { return "/sys"; }

int ibv_read_sysfs_file(const char* dir, const char* file, char* buf, size_t size) {
  return contain_call([&] { return read_any(dir, file, buf, size); },
                      [](int error) {
                        errno = error;
                        return -1;
                      });
}

}  // extern "C"
