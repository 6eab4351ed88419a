// A loaded libhbl: its functions, found by name. Nothing links it.
#pragma once

#include "hbldv.h"
#include "provider/core.h"

namespace verbs::hbl::binding {

using namespace verbs::provider;  // NOLINT(google-build-using-namespace): values, and the objects of @verbs/core

#define HBLDV_MEMBER(result, name, parameters, arguments) result(*name) parameters;
struct Library {
  void* handle;
  HBLDV_FUNCTIONS(HBLDV_MEMBER)
  // Of the Gaudi SDK's library; a library with any of them has the SDK's structures.
  int (*hbldv_migrate_qp)(ibv_qp* qp);
  int (*hbldv_reserve_coll_qps)(ibv_pd* pd, hbldv_coll_qp_attr* attr, hbldv_coll_qp* qp);
  int (*hbldv_reserve_coll_sched_resources)(ibv_context* context, hbldv_coll_sched_resources* resources);

  bool is_sdk() const { return hbldv_migrate_qp || hbldv_reserve_coll_qps || hbldv_reserve_coll_sched_resources; }
};
#undef HBLDV_MEMBER

// TypeError for anything that is no handle of a library.
const Library& library_of(const Napi::CallbackInfo& info, std::size_t index);

void init_library(Napi::Object exports);
void init_device(Napi::Object exports);
void init_encap(Napi::Object exports);
void init_usr_fifo(Napi::Object exports);
void init_queues(Napi::Object exports);
void init_collective(Napi::Object exports);

}  // namespace verbs::hbl::binding
