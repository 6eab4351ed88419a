// hbldv_create_encap and hbldv_destroy_encap.
#include "model/verbs/encap.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace verbs::hbl::model {

namespace {

constexpr std::uint32_t kMaxHeader = 32;
constexpr std::uint16_t kUdp = 17;

// Copies the header from the program's address, which may be invalid: 0 or errno.
int read_header(std::uint64_t address, std::uint32_t size, std::uint8_t* to) {
  int ends[2];
  if (size == 0) return 0;
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  // write() fails with EFAULT where reading the memory here would fault.
  const ssize_t written = write(ends[1], reinterpret_cast<const void*>(address), size);
  int error = written == static_cast<ssize_t>(size) ? 0 : EFAULT;
  if (error == 0 && read(ends[0], to, size) != static_cast<ssize_t>(size)) error = EFAULT;
  close(ends[0]);
  close(ends[1]);
  return error;
}

// The numbers of a port's encapsulations: a gaudi2 port has one, which depends on the port.
std::uint32_t first_slot(const Context& context, std::uint32_t port_num) {
  return context.profile == Profile::kGaudi2 && (port_num - 1) % 2 != 0 ? 2 : 0;
}
std::uint32_t last_slot(const Context& context, std::uint32_t port_num) {
  return context.profile == Profile::kGaudi2 ? first_slot(context, port_num) : kEncapsPerPort - 1;
}

int check_attr(const Context& context, const hbldv_encap_attr& attr) {
  if (context.profile == Profile::kGaudi2 &&
      (attr.encap_type != HBLDV_ENCAP_TYPE_ENC_OVER_UDP || attr.tnl_hdr_size != kMaxHeader)) {
    return EOPNOTSUPP;
  }
  if (static_cast<unsigned>(attr.encap_type) > HBLDV_ENCAP_TYPE_ENC_OVER_UDP) return EINVAL;
  if (attr.encap_type == HBLDV_ENCAP_TYPE_NO_ENC) return 0;  // the header is ignored
  if (attr.tnl_hdr_size > kMaxHeader) return EINVAL;
  if (attr.encap_type == HBLDV_ENCAP_TYPE_ENC_OVER_UDP) return attr.udp_dst_port == 0 ? EINVAL : 0;
  // Protocol 17 would be UDP without a UDP header.
  return attr.ip_proto == 0 || attr.ip_proto > 255 || attr.ip_proto == kUdp ? EINVAL : 0;
}

int fill_tunnel(const Context& context, const hbldv_encap_attr& attr, verbs_soft_tunnel_attr* tunnel) {
  tunnel->port_num = static_cast<std::uint8_t>(attr.port_num);
  tunnel->type = static_cast<std::uint8_t>(attr.encap_type);
  if (attr.encap_type != HBLDV_ENCAP_TYPE_NO_ENC) {
    if (const int error = read_header(attr.tnl_hdr_ptr, attr.tnl_hdr_size, tunnel->header)) return error;
    if (attr.tnl_hdr_size % 4 != 0) return EINVAL;
    tunnel->header_size = static_cast<std::uint8_t>(attr.tnl_hdr_size);
  }
  if (attr.encap_type == HBLDV_ENCAP_TYPE_ENC_OVER_UDP) tunnel->udp_port = attr.udp_dst_port;
  if (attr.encap_type == HBLDV_ENCAP_TYPE_ENC_OVER_IPV4) tunnel->ip_protocol = static_cast<std::uint8_t>(attr.ip_proto);
  // A gaudi2's kernel always writes the port's own address.
  if (context.profile == Profile::kGaudi) {
    for (int i = 0; i < 4; ++i) tunnel->source[i] = static_cast<std::uint8_t>(attr.ipv4_addr >> (24 - 8 * i));
  }
  return 0;
}

// kEncapsPerPort: none is free.
std::uint32_t free_slot(Context& context, std::uint32_t port_num) {
  const Port& port = context.port(port_num);
  for (std::uint32_t slot = first_slot(context, port_num); slot <= last_slot(context, port_num); ++slot) {
    if (!port.encaps[slot]) return slot;
  }
  return kEncapsPerPort;
}

int create(Context& context, const hbldv_encap_attr& attr, hbldv_encap** created) {
  if (const int error = context.check_port(attr.port_num, true)) return error;
  const std::uint32_t slot = free_slot(context, attr.port_num);
  if (slot == kEncapsPerPort) return EBUSY;
  if (const int error = check_attr(context, attr)) return error;
  verbs_soft_tunnel_attr tunnel{};
  if (const int error = fill_tunnel(context, attr, &tunnel)) return error;
  auto owned = std::make_unique<Encap>();
  Encap* encap = owned.get();
  Entry<decltype(context.encaps)> entry(std::move(owned));
  if (const int error = soft()->open_tunnel(context.ibv, &tunnel, &encap->tunnel)) return error;
  encap->hbldv.encap_num = slot;
  encap->port_num = attr.port_num;
  encap->slot = slot;
  context.port(attr.port_num).encaps[slot] = encap;
  *created = &encap->hbldv;
  entry.add(context.encaps, encap);
  return 0;
}

void destroy(Context& context, Encap& encap) {
  context.port(encap.port_num).encaps[encap.slot] = nullptr;
  soft()->close_tunnel(context.ibv, encap.tunnel);
  context.encaps.erase(&encap);
}

}  // namespace

Encap* find_encap(Context& context, std::uint32_t port_num, std::uint32_t number) {
  return number < kEncapsPerPort ? context.port(port_num).encaps[number] : nullptr;
}

void close_encaps(Context& context) {
  while (!context.encaps.empty()) destroy(context, *context.encaps.begin()->second);
}

hbldv_encap* hbldv_create_encap(ibv_context* verbs, hbldv_encap_attr* attr) {
  if (!verbs) return null_with<hbldv_encap>(EINVAL);
  Context* context = context_of(verbs);
  if (!context) return null_with<hbldv_encap>(EOPNOTSUPP);
  if (!attr) return null_with<hbldv_encap>(EINVAL);
  const std::lock_guard guard(context->mutex);
  hbldv_encap* created = nullptr;
  const int error = create(*context, *attr, &created);
  return error == 0 ? created : null_with<hbldv_encap>(error);
}

int hbldv_destroy_encap(hbldv_encap* encap) {
  Context* context = context_of_encap(encap);
  if (!context) return EINVAL;
  const std::lock_guard guard(context->mutex);
  const auto found = context->encaps.find(encap);
  if (found == context->encaps.end()) return EINVAL;
  destroy(*context, *found->second);
  return 0;
}

}  // namespace verbs::hbl::model
