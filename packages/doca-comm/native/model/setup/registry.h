// How processes of one user on one host find each other: a directory with one locked file a service. It lies in
// XDG_RUNTIME_DIR if that is the user's own, else in shared memory; only its owner can look into it. The lock is what
// counts: an entry whose owner is dead has none, and is ignored.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/setup/handshake.h"

namespace verbs::doca_comm::model {

struct ServiceAddress {
  Gid gid{};
  std::uint32_t qpn = 0;
  Key key{};
};

// A registered service; its end takes the entry out.
class ServiceEntry {
 public:
  // 0, EADDRINUSE if a living process has a service of that name on that representor, or another errno.
  static int add(const std::string& representor, const std::string& name, const ServiceAddress& address,
                 std::unique_ptr<ServiceEntry>* entry);
  ~ServiceEntry();
  ServiceEntry(const ServiceEntry&) = delete;
  ServiceEntry& operator=(const ServiceEntry&) = delete;

  // Whether others still find this entry.
  bool intact() const;

  // The service of a living process. 0 or ENOENT, or the errno of looking.
  static int find(const std::string& representor, const std::string& name, ServiceAddress* address);

  // In a forked child: the entries stay the parent's.
  static void forget_parent();

 private:
  ServiceEntry(std::string path, int fd);

  std::string path_;
  int fd_;
};

}  // namespace verbs::doca_comm::model
