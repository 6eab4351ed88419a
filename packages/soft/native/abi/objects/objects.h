// The objects behind the pointers of the verbs. Each begins with its verbs structure (`ibv`), so that the program's
// pointer also points to our object.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "abi/objects/command_file.h"
#include "abi/objects/handles.h"
#include "abi/objects/later.h"
#include "abi/objects/locks.h"
#include "abi/objects/send_batch.h"
#include "host/adapter/adapter.h"
#include "host/devices/device.h"
#include "host/events/async_queue.h"
#include "host/events/completion_channel.h"
#include "nic/base/containers.h"
#include "nic/objects/completion_queue.h"
#include "verbs_soft_boundary.h"

namespace verbs::soft::abi {

// The data of a model for an object.
struct ModelData {
  ModelData() = default;
  ~ModelData() {
    if (release) release(data);
  }
  ModelData(const ModelData&) = delete;
  ModelData& operator=(const ModelData&) = delete;

  void* data = nullptr;
  void (*release)(void*) = nullptr;
};

// What the data path reads of an object, which looks nothing up: also of one that another thread has destroyed a moment
// ago, or is about to. `adapter` and `nic` are nullptr then, and the call fails.
template <typename Object>
struct Live {
  std::atomic<host::Adapter*> adapter{nullptr};
  // Changes under the device's lock only.
  std::atomic<Object*> nic{nullptr};

  void begin(host::Adapter* of, Object* object) {
    nic.store(object, std::memory_order_relaxed);
    adapter.store(of, std::memory_order_release);
  }
  // Under the device's lock.
  void end() {
    adapter.store(nullptr, std::memory_order_relaxed);
    nic.store(nullptr, std::memory_order_relaxed);
  }
};

struct Context : nic::Lingering<Context> {
  explicit Context(std::shared_ptr<CommandFile> command_file) : file(std::move(command_file)), handles(file->handles) {}

  [[no_unique_address]] later::Ops<later::kLaterOps> later_ops;  // of verbs_context, directly before it
  verbs_context verbs{};
  std::shared_ptr<CommandFile> file;
  Handles& handles;
  host::Device* device = nullptr;
  host::Adapter* adapter = nullptr;
  host::AsyncQueue async;
  verbs_soft_verbs control{};  // the control verbs, as the model has set them
  ModelData model;
};

struct Td : nic::Lingering<Td> {
  ibv_td ibv{};
  Handles::Users users{0};  // counts parent domains
};

struct Pd : nic::Lingering<Pd> {
  ibv_pd ibv{};
  nic::Pd* nic = nullptr;
  // For a parent domain, whose ibv.handle is the handle of its protection domain:
  bool is_parent_domain = false;
  Td* td = nullptr;
  Handles::Users users{0};  // counts objects that were made with it
  ModelData model;
};

struct Mr : nic::Lingering<Mr> {
  ibv_mr ibv{};
  nic::Mr* nic = nullptr;
  bool may_rereg = true;  // the memory belongs to the program
  ModelData model;
};

struct Mw : nic::Lingering<Mw> {
  ibv_mw ibv{};
  nic::Mw* nic = nullptr;
};

struct Dm : nic::Lingering<Dm> {
  ibv_dm ibv{};
  std::shared_ptr<nic::Dm> nic;
};

struct Channel : nic::Lingering<Channel> {
  ibv_comp_channel ibv{};
  host::CompletionChannel queue;
};

// The state of ibv_start_poll(), ibv_next_poll() and ibv_end_poll().
struct CqReader {
  bool single_threaded = false;
  CriticalSection section;  // from start_poll to end_poll
  nic::Completion current{};
  bool wall_clock = false;  // completions are read with wall-clock timestamps
  WallTime wall_time;
};

struct Cq : nic::Lingering<Cq> {
  // ibv_cq_ex begins with the fields of ibv_cq.
  union {
    ibv_cq_ex ibv_ex{};
    ibv_cq ibv;
  };
  Live<nic::Cq> live;
  nic::Cq* nic = nullptr;
  ibv_comp_channel* channel = nullptr;
  host::EventTarget events;
  std::unique_ptr<CqReader> reader;  // if it was created as an ibv_cq_ex
  ModelData model;
};

struct Xrcd : nic::Lingering<Xrcd> {
  ibv_xrcd ibv{};
  nic::Xrcd* nic = nullptr;
};

struct Srq : nic::Lingering<Srq> {
  ibv_srq ibv{};
  Live<nic::Srq> live;
  nic::Srq* nic = nullptr;
  bool is_xrc = false;
  host::EventTarget events;
};

struct Qp : nic::Lingering<Qp> {
  // ibv_qp_ex begins with the ibv_qp.
  union {
    later::QpEx later{};
    ibv_qp_ex ibv_ex;
    ibv_qp ibv;
  };
  Live<nic::Qp> live;
  nic::Qp* nic = nullptr;
  bool sq_sig_all = false;
  host::EventTarget events;
  std::unique_ptr<SendBatch> batch;  // if it was created with send_ops_flags
  ModelData model;
};

struct Dmah : nic::Lingering<Dmah> {
  later::Dmah ibv{};
};

// Programs see nothing of it.
struct Buf : nic::Lingering<Buf> {
  ibv_context* context = nullptr;
  std::uint32_t handle = 0;
  ibv_pd* pd = nullptr;
  std::uint8_t* address = nullptr;
  std::size_t size = 0;
};

// The NIC's object is a queue pair without a send queue.
struct Wq : nic::Lingering<Wq> {
  ibv_wq ibv{};
  Live<nic::Qp> live;
  nic::Qp* nic = nullptr;
  host::EventTarget events;
};

struct IndTable : nic::Lingering<IndTable> {
  ibv_rwq_ind_table ibv{};
  nic::IndirectionTable nic;
};

struct Flow : nic::Lingering<Flow> {
  ibv_flow ibv{};
  nic::Flow* nic = nullptr;
};

struct CompCntr : nic::Lingering<CompCntr> {
  later::CompCntr ibv{};
  nic::CompletionCounter nic;
  Live<nic::CompletionCounter> live;
  std::atomic<std::uint64_t> last_read{0};
};

inline Context* of(ibv_context* context) {
  constexpr std::size_t kBefore = later::kLaterOps * sizeof(void*) + offsetof(verbs_context, context);
  return reinterpret_cast<Context*>(reinterpret_cast<char*>(context) - kBefore);
}
inline Pd* of(ibv_pd* pd) { return reinterpret_cast<Pd*>(pd); }
inline Td* of(ibv_td* td) { return reinterpret_cast<Td*>(td); }
inline Mr* of(ibv_mr* mr) { return reinterpret_cast<Mr*>(mr); }
inline Mw* of(ibv_mw* mw) { return reinterpret_cast<Mw*>(mw); }
inline Dm* of(ibv_dm* dm) { return reinterpret_cast<Dm*>(dm); }
inline Channel* of(ibv_comp_channel* channel) { return reinterpret_cast<Channel*>(channel); }
inline Cq* of(ibv_cq* cq) { return reinterpret_cast<Cq*>(cq); }
inline Xrcd* of(ibv_xrcd* xrcd) { return reinterpret_cast<Xrcd*>(xrcd); }
inline Srq* of(ibv_srq* srq) { return reinterpret_cast<Srq*>(srq); }
inline Qp* of(ibv_qp* qp) { return reinterpret_cast<Qp*>(qp); }
inline Dmah* of(ibv_dmah* dmah) { return reinterpret_cast<Dmah*>(dmah); }
inline Buf* of(ibv_buf* buf) { return reinterpret_cast<Buf*>(buf); }
inline Wq* of(ibv_wq* wq) { return reinterpret_cast<Wq*>(wq); }
inline IndTable* of(ibv_rwq_ind_table* table) { return reinterpret_cast<IndTable*>(table); }
inline Flow* of(ibv_flow* flow) { return reinterpret_cast<Flow*>(flow); }
inline CompCntr* of(ibv_comp_cntr* counter) { return reinterpret_cast<CompCntr*>(counter); }

// Of the structures that only later headers define.
inline ibv_dmah* ibv_of(Dmah* dmah) { return reinterpret_cast<ibv_dmah*>(dmah); }
inline ibv_buf* ibv_of(Buf* buf) { return reinterpret_cast<ibv_buf*>(buf); }
inline ibv_comp_cntr* ibv_of(CompCntr* counter) { return reinterpret_cast<ibv_comp_cntr*>(counter); }

// Adds an object that must belong to the live `context` or to a context that shares its command file.
template <typename Object>
int use_with(Uses& uses, const Object* ibv, ibv_context* context, int missing = EINVAL) {
  return uses.add(ibv, of(context)->handles, missing);
}

// For a call that waits with the object, and so cannot keep its use.
template <typename Object>
int check(const Object* ibv, int missing = EINVAL) {
  return Uses().add(ibv, missing);
}

// The counter of the objects that are made with `pd`; nullptr where the NIC counts them.
inline Handles::Users* users_of(ibv_pd* pd) { return of(pd)->is_parent_domain ? &of(pd)->users : nullptr; }

// Runs a control call of the NIC under the device's lock.
template <typename Call>
int control(ibv_context* context, Call&& call) {
  return of(context)->adapter->core.control(std::forward<Call>(call));
}

// Refuses a call of the context, and says why. Returns the errno.
inline int refuse(ibv_context* context, nic::Place place, int error, const nic::Why& why) {
  const auto explain = [&](nic::Nic& nic, link::Nanos) { return nic.explain(place, error, why), 0; };
  control(context, explain);
  return error;
}

// An object is not destroyed, because `users` others have it: says so. Where the context is closed, all of them go, in
// more than one round.
inline void explain_use(ibv_context* context, nic::Nic& nic, nic::Place place, int error, std::uint64_t users) {
  if (error != EBUSY || of(context)->handles.is_being_destroyed()) return;
  nic.explain(place, error, {nic::Reason::kInUse, {users}});
}

// The same without the lock. Returns EBUSY.
inline int busy(ibv_context* context, nic::Place place, std::uint64_t users) {
  const auto explain = [&](nic::Nic& nic, link::Nanos) { return explain_use(context, nic, place, EBUSY, users), 0; };
  control(context, explain);
  return EBUSY;
}

// Calls `call(data_path, nic)` for an object that is not destroyed; otherwise EINVAL.
template <typename Object, typename Call>
int on_data_path(Object* object, Call&& call) {
  host::Adapter* adapter = object->live.adapter.load(std::memory_order_acquire);
  return adapter ? call(adapter->data_path, object->live.nic) : EINVAL;
}

// The convention of functions that return a pointer: NULL and errno.
template <typename T = void>
inline T* null_with(int error) {
  errno = error;
  return nullptr;
}

}  // namespace verbs::soft::abi
