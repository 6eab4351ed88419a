// ibv_advise_mr: reads in the pages of on-demand regions before a request needs them.
#include <cerrno>

#include "abi/memory/mr.h"
#include "abi/objects/objects.h"
#include "nic/shared/mapped_memory.h"

namespace verbs::soft::abi {

namespace {

bool is_known(ibv_advise_mr_advice advice) {
  return advice == IBV_ADVISE_MR_ADVICE_PREFETCH || advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE ||
         advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;
}

}  // namespace

// The pages are present when this returns, with and without IBV_ADVISE_MR_FLAG_FLUSH. As in the kernel, a failure is
// reported only with the flag.
int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* sg_list, std::uint32_t num_sge) {
  Uses uses;
  if (const int error = uses.add(pd, ENOENT)) return error;
  if (!is_known(advice)) return EOPNOTSUPP;
  if ((flags & ~static_cast<std::uint32_t>(IBV_ADVISE_MR_FLAG_FLUSH)) != 0 || !sg_list || num_sge == 0) return EINVAL;
  const bool writable = advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
  std::vector<void*> addresses(num_sge);
  const int error = control(pd->context, [&](nic::Nic& nic, link::Nanos) {
    for (std::uint32_t i = 0; i < num_sge; ++i) {
      const int failure = nic.mrs().advised_range(of(pd)->nic, sg_list[i], writable, &addresses[i]);
      if (failure != 0) return failure;
    }
    return 0;
  });
  // Pages that are present need nothing more for this device.
  if (error != 0 || advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT) return error;
  for (std::uint32_t i = 0; i < num_sge; ++i) {
    const int failure = nic::populate(addresses[i], sg_list[i].length, writable);
    if (failure != 0 && (flags & IBV_ADVISE_MR_FLAG_FLUSH) != 0) return failure;
  }
  return 0;
}

}  // namespace verbs::soft::abi
