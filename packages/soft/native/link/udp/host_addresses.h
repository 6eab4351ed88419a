// The addresses of the machine's network interfaces. A device whose configuration names none has them in its GID table
// behind the loopback address, as an adapter of this machine would. Nothing is bound until a program uses one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "wire/gid.h"

namespace verbs::soft::link {

// Every address with the name of its interface, loopback too, in the kernel's order.
std::vector<std::pair<wire::Gid, std::string>> interface_addresses();

// The network interface of an address. All of 127.0.0.0/8 is the loopback interface's, and so is what no interface has.
class Interfaces {
 public:
  const std::string& of(const wire::Gid& gid) const;

 private:
  std::vector<std::pair<wire::Gid, std::string>> addresses_ = interface_addresses();
};

// 127.0.0.0/8 and ::1.
bool is_loopback(const wire::Gid& gid);

// Those of interfaces that are up, but the loopback addresses: IPv4, then IPv6, and link-local ones at the end. At most
// 100: programs name an entry of the table by a byte.
std::vector<wire::Gid> host_addresses();

// Tells when addresses of the machine have come or gone.
class AddressWatch {
 public:
  AddressWatch() = default;
  ~AddressWatch();
  AddressWatch(const AddressWatch&) = delete;
  AddressWatch& operator=(const AddressWatch&) = delete;

  // Without a descriptor, or where netlink is forbidden, it tells nothing.
  void open();
  // Readable when it has something to tell; -1: never.
  int fd() const { return fd_; }
  // Whether something has changed since the last call.
  bool take();
  // In a forked child.
  void abandon();

 private:
  int fd_ = -1;
};

}  // namespace verbs::soft::link
