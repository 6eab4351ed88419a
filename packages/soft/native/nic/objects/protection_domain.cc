#include "nic/objects/protection_domain.h"

#include <atomic>
#include <cerrno>

#include "nic/base/containers.h"

namespace verbs::soft::nic {

int PdTable::alloc(Pd** pd) {
  auto made = std::make_unique<Pd>();
  Pd* raw = made.get();
  const std::uint32_t index = table_.insert(std::move(made));
  if (index == 0) return ENOMEM;
  raw->handle = index;
  *pd = raw;
  return 0;
}

int PdTable::dealloc(Pd* pd) {
  if (pd->users > 0) return EBUSY;
  erase(table_, pd->handle);
  return 0;
}

int AhTable::create(Pd* pd, const ibv_ah_attr* attr, Ah** ah, Why* why) {
  const auto refuse = [&](int error, const Why& reason) {
    if (why != nullptr) *why = reason;
    return error;
  };
  const Port* port = ports_.find(attr->port_num);
  if (port == nullptr) return refuse(EINVAL, {Reason::kNoPort, {attr->port_num, ports_.size()}});
  auto made = std::make_unique<Ah>();
  if (const int error = port->resolve(*attr, &made->path, why)) return error;
  if (const int error = port->use(&made->path, why)) return error;
  made->pd = pd;
  made->port_num = attr->port_num;
  Ah* raw = made.get();
  const std::uint32_t index = table_.insert(std::move(made));
  if (index == 0) return ENOMEM;
  raw->handle = index;
  ++pd->users;
  *ah = raw;
  return 0;
}

int AhTable::destroy(Ah* ah) {
  --ah->pd->users;
  // An atomic store stays, though the object ends.
  std::atomic_ref(ah->pd).store(nullptr, std::memory_order_relaxed);
  erase(table_, ah->handle);
  return 0;
}

}  // namespace verbs::soft::nic
