// Protection domains: keys, queue pairs and address handles work together only inside one.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <utility>

#include "nic/base/containers.h"
#include "nic/base/limits.h"
#include "nic/objects/ports.h"
#include "wire/frame.h"

namespace verbs::soft::nic {

class Pd {
 public:
  std::uint32_t handle = 0;
  std::uint32_t users = 0;  // MRs, MWs, QPs, SRQs and AHs in it, and retain()
};

class PdTable {
 public:
  explicit PdTable(const Limits& limits) : table_(1, static_cast<std::uint32_t>(limits.max_pd)) {}

  int alloc(Pd** pd);   // 0 or ENOMEM
  int dealloc(Pd* pd);  // 0, or EBUSY while it has users
  // One more user, which is no object of the NIC (a parent domain).
  void retain(Pd* pd) { ++pd->users; }
  void release(Pd* pd) { --pd->users; }
  std::size_t count() const { return table_.size(); }
  // `visit(object)` may not make or end one.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    table_.for_each(std::forward<Visit>(visit));
  }

 private:
  Table<Pd> table_;
};

// Address handles: address vectors that are checked when they are created.

class Ah : public Lingering<Ah> {
 public:
  // The verbs structure that the application holds. First, so that a work request's ibv_ah pointer is an Ah pointer.
  // The caller fills in its context and pd.
  ibv_ah ibv = {};
  Pd* pd = nullptr;  // nullptr when it is destroyed: no request may use it
  std::uint32_t handle = 0;
  std::uint8_t port_num = 1;
  wire::Path path;
};

class AhTable {
 public:
  AhTable(const Limits& limits, Ports& ports) : ports_(ports), table_(1, static_cast<std::uint32_t>(limits.max_ah)) {}

  // 0, ENOMEM, or EINVAL: no such port, or an address vector that Port::resolve() rejects.
  int create(Pd* pd, const ibv_ah_attr* attr, Ah** ah, Why* why = nullptr);
  int destroy(Ah* ah);  // 0
  bool holds(const Ah& ah) const { return table_.find(ah.handle) == &ah; }

 private:
  Ports& ports_;
  Table<Ah> table_;
};

}  // namespace verbs::soft::nic
