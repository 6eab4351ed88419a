// Address handles: address vectors that are checked when they are created.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "nic/objects/pd.h"
#include "nic/ports/ports.h"
#include "nic/shared/limits.h"
#include "nic/shared/lingering.h"
#include "nic/shared/table.h"
#include "wire/frame.h"

namespace verbs::soft::nic {

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
  int create(Pd* pd, const ibv_ah_attr* attr, Ah** ah);
  int destroy(Ah* ah);  // 0
  bool holds(const Ah& ah) const { return table_.find(ah.handle) == &ah; }

 private:
  Ports& ports_;
  Table<Ah> table_;
};

}  // namespace verbs::soft::nic
