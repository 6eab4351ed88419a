// The objects behind the pointers of the verbs. Each begins with the public structure, so that the pointer that a
// program holds is the pointer to ours.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "../host/adapter.h"
#include "../host/device.h"
#include "../host/event_queue.h"
#include "send_batch.h"

namespace verbs::soft::abi {

// What a model has hung on an object.
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

// The objects of a context by their handles: small numbers that are unique in the context, as the kernel's are. What is
// still there when the context is closed goes with it.
class Handles {
 public:
  using Destroy = void (*)(void* object);
  std::uint32_t add(void* object, Destroy destroy);
  void remove(std::uint32_t handle);
  void destroy_all();  // newest first

 private:
  struct Entry {
    void* object = nullptr;
    Destroy destroy = nullptr;
    std::uint64_t born = 0;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::uint64_t births_ = 0;
};

struct Context {
  verbs_context verbs{};
  host::Device* device = nullptr;
  host::Adapter* adapter = nullptr;
  host::AsyncQueue async;
  Handles handles;
  verbs_soft_verbs control{};  // what the control verbs call
  ModelData model;
};

struct Pd {
  ibv_pd face{};
  nic::Pd* nic = nullptr;
  ModelData model;
};

struct Mr {
  ibv_mr face{};
  nic::Mr* nic = nullptr;
  bool may_rereg = true;  // it is the program's own memory
  ModelData model;
};

struct Channel {
  ibv_comp_channel face{};
  host::CompletionChannel queue;
  std::uint32_t handle = 0;
};

struct Cq {
  ibv_cq face{};
  host::Adapter* adapter = nullptr;
  nic::Cq* nic = nullptr;
  host::EventTarget events;
  ModelData model;
};

struct Srq {
  ibv_srq face{};
  host::Adapter* adapter = nullptr;
  nic::Srq* nic = nullptr;
  host::EventTarget events;
};

struct Qp {
  // One object: ibv_qp_ex begins with the ibv_qp.
  union {
    ibv_qp_ex face_ex{};
    ibv_qp face;
  };
  host::Adapter* adapter = nullptr;
  nic::Qp* nic = nullptr;
  bool sq_sig_all = false;
  host::EventTarget events;
  std::unique_ptr<SendBatch> batch;  // if it was created with send_ops_flags
  ModelData model;
};

inline Context* of(ibv_context* context) {
  return reinterpret_cast<Context*>(reinterpret_cast<char*>(context) - offsetof(verbs_context, context));
}
inline Pd* of(ibv_pd* pd) { return reinterpret_cast<Pd*>(pd); }
inline Mr* of(ibv_mr* mr) { return reinterpret_cast<Mr*>(mr); }
inline Channel* of(ibv_comp_channel* channel) { return reinterpret_cast<Channel*>(channel); }
inline Cq* of(ibv_cq* cq) { return reinterpret_cast<Cq*>(cq); }
inline Srq* of(ibv_srq* srq) { return reinterpret_cast<Srq*>(srq); }
inline Qp* of(ibv_qp* qp) { return reinterpret_cast<Qp*>(qp); }

// Runs a control call of the NIC under the device's lock.
template <typename Call>
int control(ibv_context* context, Call&& call) {
  return of(context)->adapter->control(std::forward<Call>(call));
}

// The convention of functions that return a pointer: NULL and errno.
template <typename T = void>
inline T* null_with(int error) {
  errno = error;
  return nullptr;
}

}  // namespace verbs::soft::abi
