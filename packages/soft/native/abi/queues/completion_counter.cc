// Completion counters (release 65). The device counts in its own memory, so that the value that is read is the current
// one. Who only reads counters makes progress by that, as who polls a completion queue does.
#include <cerrno>
#include <cstring>

#include "abi/objects/objects.h"

using namespace verbs::soft;

namespace {

using nic::CompletionCounter;

constexpr std::uint32_t kMaxCounters = 1u << 16;

void destroy_counter(void* object) { ibv_destroy_comp_cntr(static_cast<ibv_comp_cntr*>(object)); }

ibv_comp_cntr* create(ibv_context* context, const abi::later::CompCntrInitAttr& attr) {
  abi::Uses uses;
  if (const int error = uses.add(context)) return abi::null_with<ibv_comp_cntr>(error);
  if (attr.comp_mask != 0 || attr.flags != 0 || attr.type > 1) return abi::null_with<ibv_comp_cntr>(EINVAL);
  auto counter = std::make_unique<abi::CompCntr>();
  abi::Handles::Place place(abi::of(context)->handles, counter.get(), abi::Kind::kCompCntr, destroy_counter);
  counter->nic.counts_bytes = attr.type == 1;
  counter->ibv = {.context = context, .handle = place.handle()};
  counter->live.begin(abi::of(context)->adapter, &counter->nic);
  place.publish();
  return abi::ibv_of(counter.release());
}

int destroy(ibv_comp_cntr* ibv) {
  abi::Retirement retirement;
  if (const int error = retirement.begin(ibv)) return error;
  abi::CompCntr* counter = abi::of(ibv);
  ibv_context* context = counter->ibv.context;
  const int error = abi::control(context, [&](nic::Nic& nic, link::Nanos) {
    if (counter->nic.queue_pairs > 0) {
      abi::explain_use(context, nic, nic::Place::kDestroyCompCntr, EBUSY, counter->nic.queue_pairs);
      return EBUSY;
    }
    counter->live.end();
    return 0;
  });
  if (error != 0) return error;
  abi::of(context)->handles.remove(ibv);
  delete counter;
  return 0;
}

// Calls change(counter) with a live counter.
template <typename Change>
int with_counter(ibv_comp_cntr* ibv, Change&& change) {
  return verb([&] {
    CompletionCounter* counter = abi::of(ibv)->live.nic.load(std::memory_order_acquire);
    if (!counter) return EINVAL;
    change(*counter);
    return 0;
  });
}

int read(ibv_comp_cntr* ibv, std::atomic<std::uint64_t> CompletionCounter::* value, std::uint64_t* result) {
  return verb([&] {
    abi::CompCntr* object = abi::of(ibv);
    host::Adapter* adapter = object->live.adapter.load(std::memory_order_acquire);
    CompletionCounter* counter = object->live.nic.load(std::memory_order_acquire);
    if (!adapter || !counter) return EINVAL;
    std::uint64_t now = (counter->*value).load(std::memory_order_acquire);
    // Nothing new: the program waits.
    if (object->last_read.exchange(now, std::memory_order_relaxed) == now) {
      if (const int error = adapter->data_path.progress()) return error;
      now = (counter->*value).load(std::memory_order_acquire);
    }
    *result = now;
    return 0;
  });
}

int attach(ibv_qp* qp, ibv_comp_cntr* counter, const abi::later::QpAttachCompCntrAttr& attr) {
  abi::Uses uses;
  int error = uses.add(qp);
  if (error == 0) error = abi::use_with(uses, counter, qp->context);
  if (error != 0) return error;
  if (attr.comp_mask != 0 || attr.op_mask == 0) return EINVAL;
  return abi::control(qp->context, [&](nic::Nic& nic, link::Nanos) {
    return nic.qps().attach_counter(abi::of(qp)->nic, &abi::of(counter)->nic, attr.op_mask);
  });
}

}  // namespace

extern "C" {

int _ibv_query_comp_cntr_caps(ibv_context* context, ibv_comp_cntr_caps* caps, std::size_t size) {
  return verb([&] {
    abi::Uses uses;
    if (const int error = uses.add(context)) return error;
    const abi::later::CompCntrCaps all{
        .max_value = UINT64_MAX, .max_counters = kMaxCounters, .supported_qp_attach_ops = CompletionCounter::kAll};
    std::memset(static_cast<void*>(caps), 0, size);
    std::memcpy(static_cast<void*>(caps), &all, std::min(size, sizeof all));
    return 0;
  });
}

ibv_comp_cntr* ibv_create_comp_cntr(ibv_context* context, ibv_comp_cntr_init_attr* attr) {
  return verb([&] { return create(context, *reinterpret_cast<const abi::later::CompCntrInitAttr*>(attr)); });
}

int ibv_destroy_comp_cntr(ibv_comp_cntr* counter) {
  return verb([&] { return destroy(counter); });
}

int ibv_set_comp_cntr(ibv_comp_cntr* counter, std::uint64_t value) {
  return with_counter(counter, [&](CompletionCounter& found) { found.completed.store(value); });
}

int ibv_set_err_comp_cntr(ibv_comp_cntr* counter, std::uint64_t value) {
  return with_counter(counter, [&](CompletionCounter& found) { found.errors.store(value); });
}

int ibv_inc_comp_cntr(ibv_comp_cntr* counter, std::uint64_t amount) {
  return with_counter(counter, [&](CompletionCounter& found) { found.completed.fetch_add(amount); });
}

int ibv_inc_err_comp_cntr(ibv_comp_cntr* counter, std::uint64_t amount) {
  return with_counter(counter, [&](CompletionCounter& found) { found.errors.fetch_add(amount); });
}

int ibv_read_comp_cntr(ibv_comp_cntr* counter, std::uint64_t* value) {
  return read(counter, &CompletionCounter::completed, value);
}

int ibv_read_err_comp_cntr(ibv_comp_cntr* counter, std::uint64_t* value) {
  return read(counter, &CompletionCounter::errors, value);
}

int ibv_qp_attach_comp_cntr(ibv_qp* qp, ibv_comp_cntr* counter, ibv_qp_attach_comp_cntr_attr* attr) {
  return verb([&] { return attach(qp, counter, *reinterpret_cast<const abi::later::QpAttachCompCntrAttr*>(attr)); });
}

}  // extern "C"
