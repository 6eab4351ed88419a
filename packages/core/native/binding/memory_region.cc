#include "memory_region.h"

#include <cerrno>
#include <tuple>

#include "handle.h"
#include "library.h"

namespace verbs::core {

MemoryRegion::MemoryRegion(std::shared_ptr<ProtectionDomain> pd, ibv_mr* mr, std::shared_ptr<MemoryBlock> block,
                           napi_ref view)
    : Object(kKind, {pd}),
      pd_(std::move(pd)),
      mr_(mr),
      block_(std::move(block)),
      view_(view),
      id_(context().environment().memory_regions.Insert(this)) {}

MemoryRegion::~MemoryRegion() {
  Environment& environment = context().environment();
  environment.memory_regions.Erase(id_);
  Dispose();
  // Last, for until here the adapter could still reach the memory.
  if (view_ != nullptr) napi_delete_reference(environment.env, view_);
}

int MemoryRegion::Release() {
  if (const int error = context().functions().dereg_mr(mr_); error != 0) return error;
  mr_ = nullptr;
  context().environment().memory_regions.Erase(id_);
  return 0;
}

namespace {

Napi::Object Describe(Napi::Env env, const std::shared_ptr<MemoryRegion>& region) {
  Napi::Object result = Napi::Object::New(env);
  const ibv_mr* mr = region->mr();
  result.Set("addr", Napi::BigInt::New(env, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(mr->addr))));
  result.Set("lkey", mr->lkey);
  result.Set("rkey", mr->rkey);
  result.Set("id", region->id());
  result.Set("handle", WrapObject(env, region));
  return result;
}

// allocMr(pd, length, access): { buffer, addr, lkey, rkey, id, handle } | -errno
Napi::Value AllocMr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = Unwrap<ProtectionDomain>(info, 0);
  const double length = info[1].As<Napi::Number>().DoubleValue();
  const std::int32_t access = info[2].As<Napi::Number>().Int32Value();
  if (!(length >= 1 && length <= 9007199254740991.0)) return Failure(env, EINVAL);
  auto block = MemoryBlock::Allocate(Environment::Of(env), static_cast<std::size_t>(length));
  if (block == nullptr) return Failure(env, errno);
  errno = 0;
  ibv_mr* mr = pd->context().functions().reg_mr(pd->pd(), block->data(), block->length(), access);
  if (mr == nullptr) return Failure(env, CreationError());
  auto region = std::make_shared<MemoryRegion>(pd, mr, block, nullptr);

  auto shared = std::make_unique<std::shared_ptr<MemoryBlock>>(block);
  napi_value buffer = nullptr;
  const napi_status status = napi_create_external_arraybuffer(
      env, block->data(), block->length(),
      [](node_api_basic_env, void*, void* held) { delete static_cast<std::shared_ptr<MemoryBlock>*>(held); },
      shared.get(), &buffer);
  if (status != napi_ok) throw Napi::Error::New(env);
  std::ignore = shared.release();  // the finalizer's now
  Napi::Object result = Describe(env, region);
  result.Set("buffer", buffer);
  return result;
}

// regMr(pd, view: Uint8Array, access): { addr, lkey, rkey, id, handle } | -errno
Napi::Value RegMr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = Unwrap<ProtectionDomain>(info, 0);
  void* data = nullptr;
  std::size_t length = 0;
  napi_typedarray_type type = napi_int8_array;
  // Also the way to a SharedArrayBuffer's memory, which this version of Node-API cannot name otherwise.
  if (napi_get_typedarray_info(env, info[1], &type, &length, &data, nullptr, nullptr) != napi_ok ||
      type != napi_uint8_array) {
    throw Napi::TypeError::New(env, "regMr takes a Uint8Array");
  }
  const std::int32_t access = info[2].As<Napi::Number>().Int32Value();
  if (length == 0) return Failure(env, EINVAL);
  const std::shared_ptr<MemoryBlock> block = MemoryBlock::Find(*Environment::Of(env), data, length);
  napi_ref view = nullptr;
  if (block == nullptr && napi_create_reference(env, info[1], 1, &view) != napi_ok) throw Napi::Error::New(env);
  errno = 0;
  ibv_mr* mr = pd->context().functions().reg_mr(pd->pd(), data, length, access);
  if (mr == nullptr) {
    const int error = CreationError();
    if (view != nullptr) napi_delete_reference(env, view);
    return Failure(env, error);
  }
  return Describe(env, std::make_shared<MemoryRegion>(pd, mr, block, view));
}

// isBlock(view: Uint8Array): does the memory come from allocMr?
Napi::Value IsBlock(const Napi::CallbackInfo& info) {
  const auto view = info[0].As<Napi::Uint8Array>();
  void* data = nullptr;
  std::size_t length = 0;
  if (napi_get_typedarray_info(info.Env(), view, nullptr, &length, &data, nullptr, nullptr) != napi_ok) {
    throw Napi::TypeError::New(info.Env(), "isBlock takes a typed array");
  }
  return Napi::Boolean::New(info.Env(), MemoryBlock::Find(*Environment::Of(info.Env()), data, length) != nullptr);
}

}  // namespace

void MemoryRegion::Init(Napi::Object exports) {
  Export<AllocMr>(exports, "allocMr");
  Export<RegMr>(exports, "regMr");
  Export<IsBlock>(exports, "isBlock");
}

}  // namespace verbs::core
