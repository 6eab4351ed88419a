// Who listens for which service at which address.
#pragma once

#include <cstdint>
#include <map>

#include "cm/connection.h"
#include "verbs_soft_cm.h"
#include "wire/gid.h"

namespace verbs::soft::cm {

class Listeners {
 public:
  // 0, or EADDRINUSE if another listener takes requests of the same kind for the same service and address.
  int add(const verbs_soft_cm_listen_attr& attr, const Owner& owner, std::uint32_t* listener);
  void remove(std::uint32_t listener) { listeners_.erase(listener); }
  bool empty() const { return listeners_.empty(); }

  // Who gets a request to that address: a listener of the address itself before one of all addresses. nullptr: nobody.
  const Owner* find(std::uint64_t service_id, bool datagrams, const wire::Gid& address) const;

 private:
  struct Listener {
    bool takes(std::uint64_t wanted, bool datagram, bool ipv4) const {
      return service_id == wanted && datagrams == datagram && (families == 0 || families == (ipv4 ? 4 : 6));
    }

    std::uint64_t service_id;
    wire::Gid address;
    std::uint8_t families;
    bool datagrams;
    Owner owner;
  };

  std::map<std::uint32_t, Listener> listeners_;
  std::uint32_t next_ = 1;
};

}  // namespace verbs::soft::cm
