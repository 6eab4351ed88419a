// Discovery: how a client finds a service of the same user on the same host. The registry is a directory of mode 0700
// (registry_directory.h) with one file for each service. The service holds a lock on its file. A file without a lock is
// left over from a dead process and is ignored.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "model/base/descriptor.h"
#include "model/setup/handshake.h"

namespace verbs::doca_comm::model {

struct ServiceAddress {
  Gid gid{};
  std::uint32_t qpn = 0;
  Key key{};
};

// The entry of a service. The destructor removes it.
class ServiceEntry {
 public:
  // 0, EADDRINUSE if a living process has a service of that name on that representor, or another errno value with
  // last_error().
  static int add(const std::string& representor, const std::string& name, const ServiceAddress& address,
                 std::unique_ptr<ServiceEntry>* entry);
  ~ServiceEntry();
  ServiceEntry(const ServiceEntry&) = delete;
  ServiceEntry& operator=(const ServiceEntry&) = delete;

  // Whether clients still find this entry.
  bool intact() const;

  // Finds the service of a living process. 0, ENOENT, or the errno value of a failed access, with last_error().
  static int find(const std::string& representor, const std::string& name, ServiceAddress* address);

  // For a forked child: the entries stay the parent's.
  static void forget_parent();
  // For forks.
  static std::mutex& lock();

 private:
  ServiceEntry(Descriptor directory, std::string name, Descriptor file);

  Descriptor directory_;
  const std::string name_;
  Descriptor file_;
};

}  // namespace verbs::doca_comm::model
