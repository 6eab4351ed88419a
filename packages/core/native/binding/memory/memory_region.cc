#include "binding/memory/memory_region.h"

#include <cerrno>
#include <tuple>

#include "binding/device/library.h"
#include "binding/lifetime/handle.h"

namespace verbs::core {
namespace {

std::vector<std::shared_ptr<Object>> Parents(const std::shared_ptr<ProtectionDomain>& pd,
                                             const MemoryRegion::Memory& memory) {
  std::vector<std::shared_ptr<Object>> parents{pd};
  if (memory.device != nullptr) parents.push_back(memory.device);
  return parents;
}

}  // namespace

MemoryRegion::MemoryRegion(std::shared_ptr<ProtectionDomain> pd, ibv_mr* mr, Memory memory, Range range,
                           Destroy destroy)
    : Object(kKind, Parents(pd, memory)),
      pd_(std::move(pd)),
      mr_(mr),
      memory_(std::move(memory)),
      range_(range),
      destroy_(destroy),
      id_(context().environment().memory_regions.Insert(this)) {}

MemoryRegion::~MemoryRegion() {
  context().environment().memory_regions.Erase(id_);
  // Before the members go: until here the adapter could still reach the memory.
  Dispose();
}

int MemoryRegion::Release() {
  if (const int error = destroy_(context(), mr_); error != 0) return error;
  mr_ = nullptr;
  context().environment().memory_regions.Erase(id_);
  return 0;
}

void MemoryRegion::Become(std::shared_ptr<ProtectionDomain> pd, Memory memory, Range range) {
  SetParents(Parents(pd, memory));
  pd_ = std::move(pd);
  memory_ = std::move(memory);
  range_ = range;
}

int MemoryRegion::Deregister(const Context& context, ibv_mr* mr) { return context.functions().dereg_mr(mr); }

Napi::Object MemoryRegion::Describe(Napi::Env env, const std::shared_ptr<MemoryRegion>& region) {
  Napi::Object result = Napi::Object::New(env);
  const ibv_mr* mr = region->mr();
  result.Set("addr", Napi::BigInt::New(env, region->start()));
  result.Set("lkey", mr->lkey);
  result.Set("rkey", mr->rkey);
  result.Set("id", region->id());
  result.Set("mrHandle", mr->handle);
  result.Set("handle", WrapObject(env, region));
  return result;
}

namespace {

// What a registration is asked for: bytes in memory, the address by which the keys reach them, the rights.
struct Wanted {
  void* data;
  std::size_t length;
  std::uint64_t iova;
  std::int32_t access;
};

MemoryRegion::Range RangeOf(const Wanted& wanted) {
  return {(wanted.access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : wanted.iova, wanted.length};
}

ibv_mr* Register(const ProtectionDomain& pd, const Wanted& wanted) {
  const Functions& functions = pd.context().functions();
  errno = 0;
  const bool plain =
      wanted.iova == reinterpret_cast<std::uintptr_t>(wanted.data) && (wanted.access & IBV_ACCESS_OPTIONAL_RANGE) == 0;
  if (plain) return functions.reg_mr(pd.pd(), wanted.data, wanted.length, wanted.access);
  if (functions.reg_mr_iova2 == nullptr) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  return functions.reg_mr_iova2(pd.pd(), wanted.data, wanted.length, wanted.iova, static_cast<unsigned>(wanted.access));
}

// undefined: the address of the bytes themselves.
std::uint64_t ReadIova(const Napi::Value& value, const void* data) {
  if (value.IsUndefined()) return reinterpret_cast<std::uintptr_t>(data);
  bool lossless = false;
  return value.As<Napi::BigInt>().Uint64Value(&lossless);
}

// An ArrayBuffer of a block, which keeps it.
Napi::Value BufferOf(Napi::Env env, const std::shared_ptr<MemoryBlock>& block) {
  struct Hold {
    std::shared_ptr<MemoryBlock> block;
    bool* finalized;
  };
  bool finalized = false;
  auto hold = std::make_unique<Hold>(Hold{block, &finalized});
  napi_value buffer = nullptr;
  const napi_status status = napi_create_external_arraybuffer(
      env, block->data(), block->length(),
      [](node_api_basic_env, void*, void* held) {
        const std::unique_ptr<Hold> last(static_cast<Hold*>(held));
        if (last->finalized != nullptr) *last->finalized = true;
      },
      hold.get(), &buffer);
  // Node runs the finalizer of some of those that it refuses (a buffer longer than it can have).
  if (finalized) std::ignore = hold.release();
  if (status != napi_ok) throw Napi::Error::New(env);
  hold.release()->finalized = nullptr;  // the finalizer's now
  return {env, buffer};
}

// allocMr(pd, length, access, iova | undefined): { buffer, addr, lkey, rkey, id, mrHandle, handle } | -errno
Napi::Value AllocMr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = Unwrap<ProtectionDomain>(info, 0);
  const double length = info[1].As<Napi::Number>().DoubleValue();
  if (!(length >= 1 && length <= 9007199254740991.0)) return Failure(env, EINVAL);
  auto block = MemoryBlock::Allocate(Environment::Of(env), static_cast<std::size_t>(length));
  if (block == nullptr) return Failure(env, errno);
  const Wanted wanted{block->data(), block->length(), ReadIova(info[3], block->data()),
                      info[2].As<Napi::Number>().Int32Value()};
  ibv_mr* mr = Register(*pd, wanted);
  if (mr == nullptr) return Failure(env, CreationError());
  auto region =
      std::make_shared<MemoryRegion>(pd, mr, MemoryRegion::Memory{.block = block, .view = nullptr, .device = nullptr},
                                     RangeOf(wanted), MemoryRegion::Deregister);

  const Napi::Value buffer = BufferOf(env, block);
  Napi::Object result = MemoryRegion::Describe(env, region);
  result.Set("buffer", buffer);
  return result;
}

// The bytes of a Uint8Array. Also the way to a SharedArrayBuffer's memory, which this version of Node-API cannot name
// otherwise.
void ReadBytes(const Napi::Value& value, Wanted* wanted) {
  napi_typedarray_type type = napi_int8_array;
  if (napi_get_typedarray_info(value.Env(), value, &type, &wanted->length, &wanted->data, nullptr, nullptr) !=
          napi_ok ||
      type != napi_uint8_array) {
    throw Napi::TypeError::New(value.Env(), "a memory region is made of a Uint8Array");
  }
}

// What keeps the bytes of a view.
MemoryRegion::Memory Keep(const Napi::Value& view, const Wanted& wanted) {
  const Napi::Env env = view.Env();
  MemoryRegion::Memory memory;
  memory.block = MemoryBlock::Find(*Environment::Of(env), wanted.data, wanted.length);
  if (memory.block != nullptr) return memory;
  napi_ref reference = nullptr;
  if (napi_create_reference(env, view, 1, &reference) != napi_ok) throw Napi::Error::New(env);
  memory.view = std::make_shared<MemoryRegion::View>(env, reference);
  return memory;
}

// regMr(pd, view: Uint8Array, access, iova | undefined): { addr, lkey, rkey, id, mrHandle, handle } | -errno
Napi::Value RegMr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = Unwrap<ProtectionDomain>(info, 0);
  Wanted wanted{};
  ReadBytes(info[1], &wanted);
  wanted.access = info[2].As<Napi::Number>().Int32Value();
  wanted.iova = ReadIova(info[3], wanted.data);
  if (wanted.length == 0) return Failure(env, EINVAL);
  MemoryRegion::Memory memory = Keep(info[1], wanted);
  ibv_mr* mr = Register(*pd, wanted);
  if (mr == nullptr) return Failure(env, CreationError());
  return MemoryRegion::Describe(
      env, std::make_shared<MemoryRegion>(pd, mr, std::move(memory), RangeOf(wanted), MemoryRegion::Deregister));
}

// reregMr(mr, flags, pd | undefined, view | undefined, access | undefined): like regMr | [valid, -errno]. `valid` tells
// whether the region is still what it was.
Napi::Value ReregMr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto region = Unwrap<MemoryRegion>(info, 0);
  const int flags = info[1].As<Napi::Number>().Int32Value();
  const auto pd = info[2].IsUndefined() ? region->pd() : Unwrap<ProtectionDomain>(info, 2);
  if (&pd->context() != &region->context()) return Failure(env, EINVAL);
  Wanted wanted{};
  const bool moved = !info[3].IsUndefined();
  if (moved) ReadBytes(info[3], &wanted);
  if (moved && wanted.length == 0) return Failure(env, EINVAL);
  MemoryRegion::Memory memory = moved ? Keep(info[3], wanted) : region->memory();
  if (!info[4].IsUndefined()) wanted.access = info[4].As<Napi::Number>().Int32Value();
  errno = 0;
  const int error =
      region->context().functions().rereg_mr(region->mr(), flags, pd->pd(), wanted.data, wanted.length, wanted.access);
  if (error != 0) {
    Napi::Array result = Napi::Array::New(env, 2);
    result.Set(1u, -CreationError());
    result.Set(0u, Napi::Boolean::New(env, error >= IBV_REREG_MR_ERR_DO_FORK_OLD));
    return result;
  }
  MemoryRegion::Range range = region->range();
  if (moved) range = {reinterpret_cast<std::uintptr_t>(wanted.data), wanted.length};
  region->Become(pd, std::move(memory), range);
  return MemoryRegion::Describe(env, region);
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
  Export<verbs::core::ReregMr>(exports, "reregMr");
  Export<IsBlock>(exports, "isBlock");
}

}  // namespace verbs::core
