#include "cm/listeners.h"

#include <cerrno>

namespace verbs::soft::cm {

int Listeners::add(const verbs_soft_cm_listen_attr& attr, const Owner& owner, std::uint32_t* listener) {
  const Listener added{.service_id = attr.service_id,
                       .address = wire::Gid::from_bytes(attr.address),
                       .families = attr.families,
                       .datagrams = attr.datagrams != 0,
                       .owner = owner};
  for (const auto& [number, known] : listeners_) {
    const bool families_meet = known.families == 0 || added.families == 0 || known.families == added.families;
    if (known.service_id == added.service_id && known.datagrams == added.datagrams && families_meet &&
        known.address == added.address) {
      return EADDRINUSE;
    }
  }
  while (next_ == 0 || listeners_.contains(next_)) ++next_;
  *listener = next_;
  listeners_.emplace(next_++, added);
  return 0;
}

const Owner* Listeners::find(std::uint64_t service_id, bool datagrams, const wire::Gid& address) const {
  const Owner* wildcard = nullptr;
  for (const auto& [number, listener] : listeners_) {
    if (!listener.takes(service_id, datagrams, address.is_ipv4())) continue;
    if (listener.address == address) return &listener.owner;
    if (listener.address.is_zero()) wildcard = &listener.owner;
  }
  return wildcard;
}

}  // namespace verbs::soft::cm
