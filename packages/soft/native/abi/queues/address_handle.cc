// The address of the sender of a datagram, from its completion and the 40 bytes in front of its data.
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "abi/model/extension.h"
#include "abi/objects/objects.h"
#include "wire/bytes.h"
#include "wire/gid.h"

namespace verbs::soft::abi {

namespace {

constexpr std::size_t kIpv4Offset = 20;

std::uint16_t ones_sum(const std::uint8_t* header) {
  std::uint32_t sum = 0;
  for (int i = 0; i < 20; i += 2) sum += wire::load_be<std::uint16_t>(header + i);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

// The upper half of an IPv6 source address can look like an IPv4 header; the header checksum distinguishes them.
bool holds_ipv4(const std::uint8_t* bytes) {
  const std::uint8_t* header = bytes + kIpv4Offset;
  if (header[0] != 0x45) return false;
  return (bytes[0] >> 4) != 6 || ones_sum(header) == 0xffff;
}

// The entry of the address to which a message of `sender` came. One to a multicast group is answered from the first
// address of the same IP version from which a way leads to the sender.
int find_gid(ibv_context* context, std::uint8_t port_num, const wire::Gid& wanted, const wire::Gid& sender) {
  wire::Gid known;
  nic::GidKind kind;
  Uses uses;
  if (uses.add(context) != 0) return -1;
  int first = -1;
  const auto leads = [&](nic::Nic& nic, link::Nanos) {
    wire::Path path;
    path.sgid = known;
    path.dgid = sender;
    return nic.ports().find(port_num)->use(&path);
  };
  for (int index = 0;
       control(context,
               [&](nic::Nic& nic, link::Nanos) { return nic.ports().query_gid(port_num, index, &known, &kind); }) == 0;
       ++index) {
    if (kind.holds_place) continue;
    if (known == wanted) return index;
    if (!wanted.is_multicast() || known.is_zero() || known.is_ipv4() != wanted.is_ipv4()) continue;
    if (control(context, leads) == 0) return index;
    if (first < 0) first = index;
  }
  return first;
}

// 0 or errno. The 40 bytes are an IPv6 header, or 20 unused bytes and an IPv4 header (RoCE v2 annex A17.4.5.2).
int address_from_wc(ibv_context* context, std::uint8_t port_num, const ibv_wc& wc, const ibv_grh* grh,
                    ibv_ah_attr* attr) {
  *attr = {};
  attr->dlid = wc.slid;
  attr->sl = wc.sl;
  attr->src_path_bits = wc.dlid_path_bits;
  attr->port_num = port_num;
  if (!(wc.wc_flags & IBV_WC_GRH)) return 0;
  if (!grh) return EINVAL;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(grh);
  wire::Gid sender, receiver;
  if (holds_ipv4(bytes)) {
    const std::uint8_t* header = bytes + kIpv4Offset;
    attr->grh.traffic_class = header[1];
    attr->grh.hop_limit = header[8];
    sender = wire::Gid::from_ipv4(header + 12);
    receiver = wire::Gid::from_ipv4(header + 16);
  } else if (bytes[0] >> 4 == 6) {
    const auto first = wire::load_be<std::uint32_t>(bytes);
    attr->grh.traffic_class = static_cast<std::uint8_t>(first >> 20);
    attr->grh.flow_label = first & 0xfffff;
    attr->grh.hop_limit = bytes[7];
    sender = wire::Gid::from_bytes(bytes + 8);
    receiver = wire::Gid::from_bytes(bytes + 24);
  } else {
    return EPROTONOSUPPORT;
  }
  const int index = find_gid(context, port_num, receiver, sender);
  if (index < 0) return ENOENT;
  attr->is_global = 1;
  attr->grh.sgid_index = static_cast<std::uint8_t>(index);
  std::memcpy(attr->grh.dgid.raw, sender.bytes.data(), sizeof attr->grh.dgid.raw);
  return 0;
}

}  // namespace

}  // namespace verbs::soft::abi

using namespace verbs::soft;

namespace {

// The NIC's address handle begins with the ibv_ah, so that posting a datagram needs no look-up.
nic::Ah* nic_of(ibv_ah* ibv) { return reinterpret_cast<nic::Ah*>(ibv); }

void destroy_ah(void* object) { ibv_destroy_ah(static_cast<ibv_ah*>(object)); }

int destroy_in_nic(ibv_context* context, nic::Ah* ah) {
  return abi::control(context, [&](nic::Nic& nic, link::Nanos) { return nic.ahs().destroy(ah); });
}

int publish(ibv_ah* ibv, ibv_pd* pd) {
  abi::Handles::Place place(abi::of(pd->context)->handles, ibv, abi::Kind::kAh, destroy_ah);
  ibv->context = pd->context;
  ibv->pd = pd;
  ibv->handle = place.handle();
  place.publish(abi::users_of(pd));
  return 0;
}

int init_from_wc(ibv_context* context, std::uint8_t port_num, const ibv_wc& wc, const ibv_grh* grh, ibv_ah_attr* attr) {
  abi::Uses uses;
  if (const int error = uses.add(context)) return error;
  return abi::address_from_wc(context, port_num, wc, grh, attr);
}

}  // namespace

extern "C" {

ibv_ah* soft_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  return verb([&]() -> ibv_ah* {
    nic::Ah* ah = nullptr;
    const int error = abi::control(pd->context, [&](nic::Nic& nic, link::Nanos) {
      nic::Why why;
      const int refused = nic.ahs().create(abi::of(pd)->nic, attr, &ah, &why);
      if (refused != 0) nic.explain(nic::Place::kCreateAh, refused, why);
      return refused;
    });
    if (error != 0) return abi::null_with<ibv_ah>(error);
    // The NIC allocates the memory of the structure, so that its place comes after it.
    const int failed = contain([&] { return publish(&ah->ibv, pd); }, [](int lacking) { return lacking; });
    if (failed == 0) return &ah->ibv;
    destroy_in_nic(pd->context, ah);
    return abi::null_with<ibv_ah>(failed);
  });
}

int ibv_init_ah_from_wc(ibv_context* context, std::uint8_t port_num, ibv_wc* wc, ibv_grh* grh, ibv_ah_attr* attr) {
  return verb([&] { return init_from_wc(context, port_num, *wc, grh, attr); }) == 0 ? 0 : -1;
}

ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port_num) {
  if (const int error = abi::check(pd)) return abi::null_with<ibv_ah>(error);
  ibv_ah_attr attr;
  if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr) != 0) return nullptr;
  return ibv_create_ah(pd, &attr);
}

int ibv_destroy_ah(ibv_ah* ibv) {
  return verb([&] {
    abi::Retirement retirement;
    if (const int error = retirement.begin(ibv)) return error;
    ibv_context* context = ibv->context;
    if (const int error = abi::of(context)->adapter->core.reject_inherited()) return error;
    // Nothing can fail from here on. The memory may be another thread's new handle as soon as the NIC has freed it.
    abi::of(context)->handles.remove(ibv);
    return destroy_in_nic(context, nic_of(ibv));
  });
}

}  // extern "C"

// The Ethernet address of a GID. Our packets leave by sockets, and the kernel resolves the address. A program that asks
// gets the address of the loopback interface.

extern "C" int ibv_resolve_eth_l2_from_gid(ibv_context* context, ibv_ah_attr* attr,
                                           std::uint8_t eth_mac[ETHERNET_LL_SIZE], std::uint16_t* vid) {
  constexpr std::uint16_t kNoVlan = 0xffff;
  ibv_gid source;
  if (!attr->is_global || ibv_query_gid(context, attr->port_num, attr->grh.sgid_index, &source) != 0) return EINVAL;
  std::memset(eth_mac, 0, ETHERNET_LL_SIZE);
  if (vid) *vid = kNoVlan;
  return 0;
}
