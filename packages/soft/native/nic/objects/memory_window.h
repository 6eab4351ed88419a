// Memory windows: remote keys to a part of a memory region, bound and invalidated by requests on a send queue. Every QP
// of the protection domain may use a type 1 window. Only the QP that bound it may use a type 2 window (as type 2B), and
// the application chooses the low byte of its key.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "nic/base/containers.h"
#include "nic/base/limits.h"
#include "nic/base/reasons.h"
#include "nic/objects/memory_region.h"
#include "nic/objects/protection_domain.h"

namespace verbs::soft::nic {

class Qp;

class Mw {
 public:
  Pd* pd = nullptr;
  ibv_mw_type type = IBV_MW_TYPE_1;
  std::uint32_t key = 0;  // table index << 8 | a byte that changes with every bind
  Mr* mr = nullptr;       // the region it is bound to, or nullptr
  Qp* qp = nullptr;       // type 2, while bound: the QP that may use it
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  unsigned access = 0;

  std::uint32_t rkey() const { return key; }
  // The memory behind [from, from + size) of the window, or nullptr when the range leaves the window.
  std::uint8_t* at(std::uint64_t from, std::size_t size) const;
};

// The parameters of a bind request.
struct MwBind {
  std::uint32_t rkey;     // the window's key, as the program knows it
  std::uint8_t key_byte;  // the lowest byte of its new key
  std::uint32_t lkey;     // of the region
  std::uint64_t address;
  std::uint64_t length;
  unsigned access;
};

class MwTable {
 public:
  // The indexes of windows begin where those of regions end, so that a key tells windows from regions.
  static constexpr std::uint32_t kFirstIndex = 1u << 19;
  static bool holds(std::uint32_t key) { return key >> 8 >= kFirstIndex; }

  MwTable(const Limits& limits, MrTable& mrs)
      : table_(kFirstIndex, static_cast<std::uint32_t>(limits.max_mw)), mrs_(mrs) {}

  // 0 or errno (EINVAL: neither type 1 nor type 2; ENOMEM).
  int alloc(Pd* pd, ibv_mw_type type, Mw** mw, Why* why = nullptr);
  int dealloc(Mw* mw);  // 0

  // False when the rules for binding (IBTA 10.6.7.2) do not allow it; the window is then unchanged. A length of 0
  // unbinds a type 1 window. The key of a type 2 window must be its present one: adapters compare it as well. That of
  // a type 1 window is the library's matter, and only its index counts.
  bool bind(Qp& qp, const MwBind& bind);
  // Invalidates a type 2 window. False when `key` is not that of a window that `qp` may invalidate.
  bool invalidate(const Qp& qp, std::uint32_t key);
  // Unbinds the windows that the QP bound; it is about to be destroyed.
  void unbind_all(const Qp& qp);

  // The window of `key`, if it belongs to `pd` and is open to `qp` with all of `access`.
  const Mw* find(std::uint32_t key, const Qp& qp, const Pd* pd, unsigned access) const;

 private:
  void detach(Mw& mw);

  Table<Mw> table_;
  MrTable& mrs_;
  std::uint8_t next_byte_ = 0;
};

}  // namespace verbs::soft::nic
