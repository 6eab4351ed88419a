// The devices and representors behind the opaque structures of libdoca_common. Each PCI function of the configuration
// has one of each for the life of the process, so that a stale pointer never dangles.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "doca_dev.h"
#include "model/bluefield/options.h"
#include "model/nic/verbs.h"
#include "verbs_soft_fair_lock.h"

namespace verbs::doca_comm::model {
class HandshakeChannel;
}

struct doca_devinfo_rep {
  const doca_devinfo* parent = nullptr;
  std::string pci;
  std::optional<verbs::doca_comm::model::Gid> host;
};

struct doca_dev_rep {
  doca_devinfo_rep* info = nullptr;
  int opens = 0;
  int users = 0;  // endpoints
};

struct doca_dev {
  doca_devinfo* info = nullptr;
  int opens = 0;
  int users = 0;  // endpoints, and open representors
  // Set while the device is open.
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  verbs::doca_comm::model::Gid gid{};
  std::shared_ptr<verbs::doca_comm::model::HandshakeChannel> handshakes;
};

struct doca_devinfo {
  ibv_device* device = nullptr;
  std::string name;
  verbs::doca_comm::model::Options options;
  doca_dev opened;
  struct Representor {
    doca_devinfo_rep info;
    doca_dev_rep opened;
  };
  std::vector<std::unique_ptr<Representor>> representors;
};

namespace verbs::doca_comm::model {

class Bluefield {
 public:
  static Bluefield& get();

  // The devices of the current configuration. Adds the default pair if no device of the kind is configured.
  doca_error_t list(std::vector<doca_devinfo*>* devices);
  // Whether it is one of ours: other pointers are not read. The other calls check it for themselves.
  bool knows(const doca_devinfo* info);
  bool knows(const doca_devinfo_rep* info);
  bool knows(const doca_dev* dev);
  bool knows(const doca_dev_rep* rep);

  doca_error_t open(doca_devinfo* info, doca_dev** dev);
  doca_error_t close(doca_dev* dev);
  doca_error_t open(doca_devinfo_rep* info, doca_dev_rep** rep);
  doca_error_t close(doca_dev_rep* rep);
  bool is_open(const doca_dev* dev);
  bool is_open(const doca_dev_rep* rep);
  // Counts an endpoint as a user of the device, which then cannot be closed. False if it is not open.
  bool hold(doca_dev* dev);
  void release(doca_dev* dev);
  bool hold(doca_dev_rep* rep);
  void release(doca_dev_rep* rep);

  // For forks: the lock is held while devices are opened and closed.
  static soft::FairLock& lock();
  static void forget_parent();

 private:
  Bluefield() = default;
  doca_devinfo* find(const ibv_device* device);
  template <typename Is>
  bool has_representor(const Is& is) const;
  bool has(const doca_dev* dev) const;
  bool has(const doca_dev_rep* rep) const;
  doca_error_t start(doca_dev& dev);
  static void stop(doca_dev& dev);

  soft::FairLock mutex_;
  std::vector<std::unique_ptr<doca_devinfo>> devices_;
};

}  // namespace verbs::doca_comm::model
