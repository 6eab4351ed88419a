#include "binding/provider/provider_api.h"

#include <cerrno>
#include <new>
#include <stdexcept>
#include <utility>

#include "binding/completion/completion_queue.h"
#include "binding/device/context.h"
#include "binding/lifetime/handle.h"
#include "binding/memory/device_memory.h"
#include "binding/memory/memory_region.h"
#include "binding/qp/qp_creation.h"
#include "binding/qp/queue_pair.h"
#include "binding/qp/receive_work_queue.h"
#include "verbs_core.h"

// A counted reference, as C sees it. One of take() is for a call, and keeps the object open.
struct verbs_core_object {
  verbs_core_object(std::shared_ptr<verbs::core::Object> taken, bool of_a_call)
      : object(std::move(taken)), for_call(of_a_call) {
    if (for_call) object->begin_call();
  }
  ~verbs_core_object() {
    if (for_call) object->end_call();
  }
  verbs_core_object(const verbs_core_object&) = delete;
  verbs_core_object& operator=(const verbs_core_object&) = delete;

  const std::shared_ptr<verbs::core::Object> object;
  const bool for_call;
};

namespace verbs::core {
namespace {

class ForeignObject final : public Object {
 public:
  ForeignObject(const std::vector<std::shared_ptr<Object>>& parents, int (*destroy)(void*), void* object)
      : Object(VERBS_CORE_FOREIGN, parents), first_parent_(first_of(parents)), destroy_(destroy), object_(object) {}
  ~ForeignObject() override { dispose(); }

  void* pointer() const override { return object_; }
  const Context* context_if_any() const override {
    return first_parent_ == nullptr ? nullptr : first_parent_->context_if_any();
  }
  const Context& context() const override {
    const Context* context = context_if_any();
    if (context == nullptr) throw std::logic_error("the object belongs to no context");
    return *context;
  }
  void move_below(const std::vector<std::shared_ptr<Object>>& parents) {
    set_parents(parents);
    first_parent_ = first_of(parents);
  }

 private:
  static std::shared_ptr<Object> first_of(const std::vector<std::shared_ptr<Object>>& parents) {
    return parents.empty() ? nullptr : parents.front();
  }
  int destroy() override { return destroy_(object_); }
  int destroyed(int) override {
    object_ = nullptr;
    return 0;
  }

  std::shared_ptr<Object> first_parent_;
  int (*destroy_)(void*);
  void* object_;
};

}  // namespace
}  // namespace verbs::core

struct verbs_core_child {
  std::shared_ptr<verbs::core::ForeignObject> object;
};

namespace verbs::core {
namespace {

verbs_core_object* take_object(napi_env env, napi_value handle, verbs_core_kind kind) {
  return contain(env, [&] { return new verbs_core_object(unwrap_open(env, handle, kind), true); });
}

verbs_core_object* retain(verbs_core_object* object) {
  return new (std::nothrow) verbs_core_object(object->object, false);
}

void release(verbs_core_object* object) { delete object; }

void* pointer(const verbs_core_object* object) { return object->object->open() ? object->object->pointer() : nullptr; }

verbs_core_library library_of(const verbs_core_object* object) {
  const Context* context = object->object->context_if_any();
  return context != nullptr && context->library().soft() ? VERBS_CORE_SOFT : VERBS_CORE_SYSTEM;
}

void* symbol(const verbs_core_object* object, const char* name, const char* version) {
  const Context* context = object->object->context_if_any();
  return context == nullptr ? nullptr : context->library().symbol(name, version);
}

std::vector<std::shared_ptr<Object>> shared(verbs_core_object* const* objects, std::size_t count) {
  std::vector<std::shared_ptr<Object>> result;
  result.reserve(count);
  for (std::size_t i = 0; i < count; i++) result.push_back(objects[i]->object);
  return result;
}

verbs_core_child* attach(verbs_core_object* const* parents, std::size_t count, int (*destroy)(void*), void* object) {
  try {
    return new verbs_core_child{std::make_shared<ForeignObject>(shared(parents, count), destroy, object)};
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

int close_child(verbs_core_child* child) { return child->object->close(); }

void detach(verbs_core_child* child) { delete child; }

void* library_symbol(napi_env env, napi_value library, const char* name, const char* version) {
  return contain(env, [&] { return unwrap_library(env, library)->symbol(name, version); });
}

template <Context::Ownership kOwnership>
napi_value wrap_context(napi_env env, napi_value library, void* context) {
  return contain(env, [&]() -> napi_value {
    return wrap_object(env, std::make_shared<Context>(Environment::of_thread(), unwrap_library(env, library),
                                                      static_cast<ibv_context*>(context), kOwnership));
  });
}

napi_value adopt_cq(napi_env env, verbs_core_object* context, verbs_core_object* channel, void* cq) {
  return contain(env, [&]() -> napi_value {
    std::shared_ptr<CompletionChannel> its_channel;
    if (channel != nullptr) its_channel = std::static_pointer_cast<CompletionChannel>(channel->object);
    return CompletionQueue::adopt(env, std::static_pointer_cast<Context>(context->object), its_channel,
                                  static_cast<ibv_cq*>(cq));
  });
}

napi_value child_handle(napi_env env, verbs_core_child* child) {
  return contain(env, [&]() -> napi_value { return wrap_object(env, child->object); });
}

int read_qp_attributes(napi_env env, napi_value attr, void* qp_attr) {
  const bool read = contain(env, [&] {
    *static_cast<ibv_qp_attr*>(qp_attr) = read_qp_attr(Fields(Napi::Value(env, attr)));
    return true;
  });
  return read ? 0 : -1;
}

napi_value create_vendor_qp(napi_env env, const napi_value* arguments, verbs_core_make make, void* data) {
  return contain(env, [&]() -> napi_value { return create_qp(env, arguments, VendorMake{make, data, nullptr}, {}); });
}

napi_value create_qp_by(napi_env env, const napi_value* arguments, const verbs_core_qp_maker* maker) {
  return contain(env, [&]() -> napi_value {
    const std::shared_ptr<Object> parent = maker->parent == nullptr ? nullptr : maker->parent->object;
    return create_qp(env, arguments, VendorMake{maker->make, maker->data, maker->destroy}, parent);
  });
}

napi_value write_qp_attributes(napi_env env, const void* qp_attr) {
  return contain(
      env, [&]() -> napi_value { return write_qp_attr(Napi::Env(env), *static_cast<const ibv_qp_attr*>(qp_attr)); });
}

using Create = Napi::Value (*)(Napi::Env env, const napi_value* arguments, const VendorMake& vendor);

template <Create F>
napi_value create_by(napi_env env, const napi_value* arguments, verbs_core_make make, void* data) {
  return contain(env, [&]() -> napi_value { return F(env, arguments, VendorMake{make, data, nullptr}); });
}

napi_value adopt_mr(napi_env env, verbs_core_object* pd, void* mr, std::uint64_t start, std::uint64_t length) {
  return contain(env, [&]() -> napi_value {
    return MemoryRegion::describe(
        env, std::make_shared<MemoryRegion>(std::static_pointer_cast<ProtectionDomain>(pd->object),
                                            static_cast<ibv_mr*>(mr), MemoryRegion::Memory{},
                                            MemoryRegion::Range{start, length}, MemoryRegion::deregister));
  });
}

QueuePair& queue_pair(const verbs_core_object* qp) { return static_cast<QueuePair&>(*qp->object); }

void qp_modified(verbs_core_object* qp, const void* qp_attr, int mask) {
  queue_pair(qp).modified(*static_cast<const ibv_qp_attr*>(qp_attr), mask);
}

void qp_cap(const verbs_core_object* qp, void* cap) { *static_cast<ibv_qp_cap*>(cap) = queue_pair(qp).cap(); }

std::uint64_t qp_word(const verbs_core_object* qp) { return queue_pair(qp).provider_word(); }

void set_qp_word(verbs_core_object* qp, std::uint64_t word) { queue_pair(qp).set_provider_word(word); }

int qp_keep(verbs_core_object* qp, int (*drop)(void*), void* data) {
  try {
    queue_pair(qp).keep({drop, data});
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int set_parents(verbs_core_object* object, verbs_core_object* const* parents, std::size_t count) {
  if (object->object->kind() != VERBS_CORE_FOREIGN) return EINVAL;
  try {
    static_cast<ForeignObject&>(*object->object).move_below(shared(parents, count));
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

constexpr verbs_core_api kApi = {
    .version = VERBS_CORE_API_VERSION,
    .size = sizeof(verbs_core_api),
    .take = take_object,
    .retain = retain,
    .release = release,
    .pointer = pointer,
    .library = library_of,
    .symbol = symbol,
    .attach = attach,
    .close = close_child,
    .detach = detach,
    .library_symbol = library_symbol,
    .adopt_context = wrap_context<Context::Ownership::kOwned>,
    .adopt_cq = adopt_cq,
    .child_handle = child_handle,
    .read_qp_attr = read_qp_attributes,
    .create_qp = create_vendor_qp,
    .create_cq = create_by<CompletionQueue::create>,
    .create_wq = create_by<ReceiveWorkQueue::create>,
    .alloc_dm = create_by<DeviceMemory::alloc>,
    .adopt_mr = adopt_mr,
    .qp_modified = qp_modified,
    .qp_cap = qp_cap,
    .qp_word = qp_word,
    .set_qp_word = set_qp_word,
    .qp_keep = qp_keep,
    .borrow_context = wrap_context<Context::Ownership::kBorrowed>,
    .create_qp_by = create_qp_by,
    .write_qp_attr = write_qp_attributes,
    .set_parents = set_parents,
};

}  // namespace

void init_provider_api(Napi::Object exports) {
  constexpr napi_type_tag kTag = VERBS_CORE_API_TAG;
  napi_value external = nullptr;
  napi_env env = exports.Env();
  if (napi_create_external(env, const_cast<verbs_core_api*>(&kApi), nullptr, nullptr, &external) != napi_ok ||
      napi_type_tag_object(env, external, &kTag) != napi_ok) {
    throw Napi::Error::New(env);
  }
  exports.Set("nativeApi", external);
}

}  // namespace verbs::core
