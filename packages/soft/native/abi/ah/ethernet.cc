// The Ethernet address of a GID. Our packets leave by sockets, and the kernel resolves the address. A program that asks
// gets the address of the loopback interface.
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

extern "C" int ibv_resolve_eth_l2_from_gid(ibv_context* context, ibv_ah_attr* attr,
                                           std::uint8_t eth_mac[ETHERNET_LL_SIZE], std::uint16_t* vid) {
  constexpr std::uint16_t kNoVlan = 0xffff;
  ibv_gid source;
  if (!attr->is_global || ibv_query_gid(context, attr->port_num, attr->grh.sgid_index, &source) != 0) return EINVAL;
  std::memset(eth_mac, 0, ETHERNET_LL_SIZE);
  if (vid) *vid = kNoVlan;
  return 0;
}
