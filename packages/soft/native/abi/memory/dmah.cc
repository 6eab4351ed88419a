// DMA handles (release 59): hints for the bus transfers of regions. The device has no bus: it takes every handle that
// an adapter with TPH takes, and ignores it.
#include <unistd.h>

#include <cerrno>

#include "abi/objects/objects.h"

using namespace verbs::soft;

namespace {

void dealloc(void* object) { ibv_dealloc_dmah(static_cast<ibv_dmah*>(object)); }

// The rules of the kernel and of mlx5: a hint there must be, the processor and its kind of memory come together, and
// the processor is one of the machine's.
bool is_complete(const abi::later::DmahInitAttr& attr) {
  constexpr std::uint32_t kCpu = 1u << 0, kHint = 1u << 1, kMemory = 1u << 2;
  constexpr std::uint8_t kMaxHint = 3;  // two bits of a PCIe transaction
  if ((attr.comp_mask & ~(kCpu | kHint | kMemory)) != 0 || (attr.comp_mask & kHint) == 0) return false;
  const bool cpu = (attr.comp_mask & kCpu) != 0;
  const bool memory = (attr.comp_mask & kMemory) != 0;
  if (cpu && attr.cpu_id >= static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_CONF))) return false;
  return cpu == memory && attr.ph <= kMaxHint && (!memory || attr.tph_mem_type <= 1);
}

}  // namespace

extern "C" {

ibv_dmah* ibv_alloc_dmah(ibv_context* context, ibv_dmah_init_attr* attr) {
  return verb([&] {
    abi::Uses uses;
    if (const int error = uses.add(context)) return abi::null_with<ibv_dmah>(error);
    if (!is_complete(*reinterpret_cast<const abi::later::DmahInitAttr*>(attr))) {
      return abi::null_with<ibv_dmah>(EINVAL);
    }
    auto made = std::make_unique<abi::Dmah>();
    abi::Handles::Place place(abi::of(context)->handles, made.get(), abi::Kind::kDmah, dealloc);
    made->ibv.context = context;
    place.publish();
    return abi::ibv_of(made.release());
  });
}

int ibv_dealloc_dmah(ibv_dmah* ibv) {
  return verb([&] {
    abi::Retirement retirement;
    if (const int error = retirement.begin(ibv)) return error;
    abi::Dmah* known = abi::of(ibv);
    abi::of(known->ibv.context)->handles.remove(ibv);
    delete known;
    return 0;
  });
}

}  // extern "C"
