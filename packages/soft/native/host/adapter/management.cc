#include "host/adapter/management.h"

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "wire/headers.h"
#include "wire/opcode.h"

namespace verbs::soft::host {
namespace {

constexpr std::uint32_t kOwnBits = 0xfffff;  // of a connection's number: 20

std::uint64_t random_seed() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

link::Service service_of(const verbs_soft_cm_listen_attr& attr) {
  return {attr.service_id, attr.datagrams != 0, wire::Gid::from_bytes(attr.address), attr.families};
}

cm::Config config_of(std::optional<std::uint32_t> id_base) {
  cm::Config config{.guid = wire::guid_base(random_seed()) | 1, .seed = random_seed()};
  if (id_base) config.id_base = *id_base, config.id_mask = kOwnBits;
  return config;
}

}  // namespace

Management::Management(std::optional<std::uint32_t> id_base)
    : shares_(id_base.has_value()), manager_(config_of(id_base), *this) {}

int Management::announce(const verbs_soft_cm_listen_attr& attr) {
  for (std::size_t i = 0; i < ports_->size(); ++i) {
    const int error = (*ports_)[i]->open_service(service_of(attr));
    if (error == 0) continue;
    for (std::size_t j = 0; j < i; ++j) (*ports_)[j]->addresses().close_service(service_of(attr));
    return error;
  }
  return 0;
}

void Management::withdraw(const verbs_soft_cm_listen_attr& attr) {
  for (const auto& port : *ports_) port->addresses().close_service(service_of(attr));
}

// As the frame that has arrived here, but for its hop limit.
bool Management::hand_over(const wire::Path& path, std::uint64_t service_id, bool datagrams, const wire::Gid& address,
                           cm::MadView mad) {
  if (!shares_) return false;
  constexpr std::uint32_t kManagementQpn = 1, kManagementQkey = 0x80010000;
  constexpr std::size_t kHeaders = wire::Bth::kSize + wire::Deth::kSize;
  wire::Path back = path;
  std::swap(back.sgid, back.dgid);
  back.hop_limit = cm::kPassedHops;
  std::array<std::uint8_t, wire::kMaxNetworkSize + kHeaders + cm::kMadSize + wire::kIcrcSize> frame{};
  const std::size_t transport = kHeaders + cm::kMadSize + wire::kIcrcSize;
  const std::size_t network = wire::write_network(frame.data(), back, transport);
  wire::Bth bth;
  bth.opcode = wire::make_opcode(wire::Transport::kUd, wire::kSendOnly);
  bth.dest_qpn = kManagementQpn;
  bth.emit(&frame[network]);
  wire::Deth{kManagementQkey, kManagementQpn}.emit(&frame[network + wire::Bth::kSize]);
  std::ranges::copy(mad, &frame[network + kHeaders]);
  const link::Service service{.id = service_id, .datagrams = datagrams, .address = address};
  return link::SocketGroup::send_request(service, {frame.data(), network + transport}) == 0;
}

}  // namespace verbs::soft::host
