#include "nic/objects/pd.h"

#include <cerrno>

#include "nic/shared/erase.h"

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

}  // namespace verbs::soft::nic
