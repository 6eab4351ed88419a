// The addon: one JavaScript function for each function of libibverbs, without policy. Calls that fail give the errno,
// negated; wrong handles throw. The arguments and results are declared in src/base/native.ts.

#include <cstring>

#include "binding/completion/channel.h"
#include "binding/completion/completion_counter.h"
#include "binding/completion/completion_queue.h"
#include "binding/data_path.h"
#include "binding/device/context.h"
#include "binding/device/domains.h"
#include "binding/device/gid.h"
#include "binding/device/query.h"
#include "binding/device/route.h"
#include "binding/lifetime/handle.h"
#include "binding/memory/buffers.h"
#include "binding/memory/device_memory.h"
#include "binding/memory/memory_region.h"
#include "binding/memory/protection_domain.h"
#include "binding/memory/special_regions.h"
#include "binding/posting/address_handle.h"
#include "binding/provider/provider_api.h"
#include "binding/qp/flow.h"
#include "binding/qp/queue_pair.h"
#include "binding/qp/receive_work_queue.h"
#include "binding/qp/shared_receive_queue.h"

namespace verbs::core {
namespace {

// errnoName(number): 'EINVAL', or undefined. Node's own table lacks names that RDMA uses, EREMOTEIO for one.
Napi::Value errno_name(const Napi::CallbackInfo& info) {
#if defined(__GLIBC__)
  const char* name = strerrorname_np(number_of<int>(info[0]));
#else  // musl has no names
  const char* name = nullptr;
#endif
  return name == nullptr ? info.Env().Undefined() : Napi::String::New(info.Env(), name);
}

// errnoText(number): 'Invalid argument'
Napi::Value errno_text(const Napi::CallbackInfo& info) {
#if defined(__GLIBC__)
  const char* text = strerrordesc_np(number_of<int>(info[0]));
#else
  const char* text = strerror(number_of<int>(info[0]));
#endif
  return Napi::String::New(info.Env(), text == nullptr ? "Unknown error" : text);
}

// objectCounts(): { Context: 1, …, blockBytes }: the objects of this thread, open or closed.
Napi::Value object_counts(const Napi::CallbackInfo& info) {
  Napi::Object result = Napi::Object::New(info.Env());
  for (int kind = kFirstKind; kind <= kLastKind; kind++) {
    const auto each = static_cast<verbs_core_kind>(kind);
    result.Set(kind_name(each), static_cast<double>(Object::count_of(each)));
  }
  result.Set("blockBytes", static_cast<double>(MemoryBlock::total_bytes()));
  return result;
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  Environment::create(env);
  Context::init(exports);
  ProtectionDomain::init(exports);
  MemoryRegion::init(exports);
  CompletionChannel::init(exports);
  CompletionQueue::init(exports);
  QueuePair::init(exports);
  AddressHandle::init(exports);
  SharedReceiveQueue::init(exports);
  ReceiveWorkQueue::init(exports);
  MemoryWindow::init(exports);
  DeviceMemory::init(exports);
  LibraryBuffer::init(exports);
  init_dma_handle(exports);
  init_domains(exports);
  init_completion_counter(exports);
  init_flow(exports);
  init_indirection_table(exports);
  init_special_regions(exports);
  init_text(exports);
  init_gid(exports);
  init_data_path(exports);
  init_query(exports);
  init_route(exports);
  init_provider_api(exports);
  export_function<errno_name>(exports, "errnoName");
  export_function<errno_text>(exports, "errnoText");
  export_function<object_counts>(exports, "objectCounts");
  return exports;
}

}  // namespace
}  // namespace verbs::core

static Napi::Object init_addon(Napi::Env env, Napi::Object exports) { return verbs::core::init(env, exports); }
NODE_API_MODULE(verbs_core, init_addon)
