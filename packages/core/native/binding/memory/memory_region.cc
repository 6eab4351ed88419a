#include "binding/memory/memory_region.h"

#include <unistd.h>

#include <cerrno>
#include <optional>

#include "binding/device/library.h"
#include "binding/lifetime/handle.h"
#include "provider/handle.h"
#include "provider/memory_file.h"

namespace verbs::core {
namespace {

std::vector<std::shared_ptr<Object>> parents_of(const std::shared_ptr<ProtectionDomain>& pd,
                                                const MemoryRegion::Memory& memory) {
  std::vector<std::shared_ptr<Object>> parents{pd};
  if (memory.object != nullptr) parents.push_back(memory.object);
  if (memory.dma_handle != nullptr) parents.push_back(memory.dma_handle);
  return parents;
}

}  // namespace

MemoryRegion::MemoryRegion(std::shared_ptr<ProtectionDomain> pd, ibv_mr* mr, Memory memory, Range range,
                           Destroy destroy)
    : Object(kKind, parents_of(pd, memory)),
      pd_(std::move(pd)),
      mr_(mr),
      memory_(std::move(memory)),
      range_(range),
      destroy_(destroy),
      id_(context().environment().memory_regions.insert(this)) {}

MemoryRegion::~MemoryRegion() {
  context().environment().memory_regions.erase(id_);
  // Before the members go: until here the adapter could still reach the memory.
  dispose();
}

int MemoryRegion::destroy() { return destroy_(context(), mr_); }

int MemoryRegion::destroyed(int) {
  mr_ = nullptr;
  context().environment().memory_regions.erase(id_);
  return 0;
}

void MemoryRegion::become(std::shared_ptr<ProtectionDomain> pd, Memory memory, Range range) {
  set_parents(parents_of(pd, memory));
  pd_ = std::move(pd);
  memory_ = std::move(memory);
  range_ = range;
}

int MemoryRegion::deregister(const Context& context, ibv_mr* mr) { return context.functions().dereg_mr(mr); }

// Also the way to a SharedArrayBuffer's memory, which this version of Node-API cannot name otherwise.
MemoryRegion::Bytes MemoryRegion::bytes_of(const Napi::Value& view) {
  Bytes bytes;
  napi_typedarray_type type = napi_int8_array;
  if (napi_get_typedarray_info(view.Env(), view, &type, &bytes.length, &bytes.data, nullptr, nullptr) != napi_ok ||
      type != napi_uint8_array) {
    throw Napi::TypeError::New(view.Env(), "a memory region is made of a Uint8Array");
  }
  return bytes;
}

MemoryRegion::Memory MemoryRegion::owner_of(const Napi::Value& view, const Bytes& bytes) {
  const Napi::Env env = view.Env();
  Memory memory{.block = MemoryBlock::find(*Environment::of(env), bytes.data, bytes.length),
                .data = static_cast<std::byte*>(bytes.data)};
  if (memory.block != nullptr) return memory;
  napi_ref reference = nullptr;
  if (napi_create_reference(env, view, 1, &reference) != napi_ok) throw Napi::Error::New(env);
  memory.view = std::make_shared<View>(env, reference);
  return memory;
}

Napi::Object MemoryRegion::describe(Napi::Env env, const std::shared_ptr<MemoryRegion>& region) {
  Napi::Object result = Napi::Object::New(env);
  const ibv_mr* mr = region->mr();
  result.Set("addr", Napi::BigInt::New(env, region->start()));
  result.Set("lkey", mr->lkey);
  result.Set("rkey", mr->rkey);
  result.Set("id", region->id());
  result.Set("mrHandle", mr->handle);
  result.Set("handle", wrap_object(env, region));
  return result;
}

namespace {

// The arguments of a registration: bytes in memory, the address by which the keys reach them, the access flags.
struct Wanted {
  void* data;
  std::size_t length;
  std::uint64_t iova;
  std::int32_t access;
};

MemoryRegion::Range range_of(const Wanted& wanted) {
  return {(wanted.access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : wanted.iova, wanted.length};
}

ibv_mr* register_memory(const ProtectionDomain& pd, const Wanted& wanted) {
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

// The region keeps a block of allocMr, and nobody else can unmap it. The software NIC spares system calls for that.
void tell_kept(const ProtectionDomain& pd, ibv_mr* mr, const std::shared_ptr<MemoryBlock>& block) {
  const auto keep_mapped = pd.context().functions().soft_keep_mapped;
  if (block != nullptr && keep_mapped != nullptr) keep_mapped(mr);
}

// Undefined, and so none: the address of the bytes themselves.
std::optional<std::uint64_t> read_iova(const Napi::Value& value) {
  if (value.IsUndefined()) return std::nullopt;
  return u64_of(value);
}

std::uint64_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

// An ArrayBuffer of a block, which keeps it. Undefined where the host has all memory of JavaScript in one cage, as
// Electron has, and so allows none of ours.
Napi::Value buffer_of(Napi::Env env, const std::shared_ptr<MemoryBlock>& block) {
  napi_value buffer = nullptr;
  const napi_status status = external_buffer(env, block->data(), block->length(), block, &buffer);
  if (status == napi_no_external_buffers_allowed) return env.Undefined();
  return checked(env, status == napi_ok ? buffer : nullptr);
}

// Memory and a region of it. Null with errno set if there is none of either.
struct Allocated {
  std::shared_ptr<MemoryBlock> block;
  ibv_mr* mr = nullptr;
};

Allocated allocate(const ProtectionDomain& pd, const std::shared_ptr<Environment>& environment, std::size_t length,
                   std::optional<std::uint64_t> iova, std::int32_t access, Wanted* wanted) {
  Allocated made{MemoryBlock::allocate(environment, length)};
  if (made.block == nullptr) return made;
  *wanted = {made.block->data(), length, iova.value_or(address_of(made.block->data())), access};
  made.mr = register_memory(pd, *wanted);
  return made;
}

// Of a memory file, which the adapter maps as well. An adapter that takes none gets the memory itself.
Allocated allocate_shared(const ProtectionDomain& pd, const std::shared_ptr<Environment>& environment,
                          std::size_t length, std::optional<std::uint64_t> iova, std::int32_t access, Wanted* wanted) {
  int fd = -1;
  Allocated made{MemoryBlock::allocate_file(environment, length, &fd)};
  if (made.block == nullptr) return made;
  *wanted = {made.block->data(), length, iova.value_or(address_of(made.block->data())), access};
  const Functions& functions = pd.context().functions();
  if (functions.reg_dmabuf_mr != nullptr) {
    made.mr = functions.reg_dmabuf_mr(pd.pd(), 0, length, wanted->iova, fd, access);
  }
  if (made.mr == nullptr) made.mr = register_memory(pd, *wanted);
  const int error = errno;
  provider::seal_memory_file(fd);
  close(fd);
  errno = error;
  return made;
}

// allocMr(pd, length, access, iova | undefined, shared): { buffer, addr, lkey, rkey, id, mrHandle, handle } | -errno;
// undefined where no ArrayBuffer can have memory of an addon
Napi::Value alloc_mr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = take<ProtectionDomain>(info, 0);
  const double length = number_of<double>(info[1]);
  if (!(length >= 1 && length <= 9007199254740991.0)) return failure(env, EINVAL);
  Wanted wanted{};
  const auto make = flag_of(info[4]) ? allocate_shared : allocate;
  const auto [block, mr] = make(*pd, Environment::of(env), static_cast<std::size_t>(length), read_iova(info[3]),
                                number_of<int>(info[2]), &wanted);
  if (block == nullptr) return failure(env, errno);
  if (mr == nullptr) return failure(env, creation_error());
  tell_kept(*pd, mr, block);
  auto region = std::make_shared<MemoryRegion>(pd, mr, MemoryRegion::Memory{.block = block, .data = block->data()},
                                               range_of(wanted), MemoryRegion::deregister);

  const Napi::Value buffer = buffer_of(env, block);
  if (buffer.IsUndefined()) return buffer;
  Napi::Object result = MemoryRegion::describe(env, region);
  result.Set("buffer", buffer);
  return result;
}

// regMr(pd, view: Uint8Array, access, iova | undefined): { addr, lkey, rkey, id, mrHandle, handle } | -errno
Napi::Value reg_mr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = take<ProtectionDomain>(info, 0);
  const MemoryRegion::Bytes bytes = MemoryRegion::bytes_of(info[1]);
  if (bytes.length == 0) return failure(env, EINVAL);
  const Wanted wanted{bytes.data, bytes.length, read_iova(info[3]).value_or(address_of(bytes.data)),
                      number_of<int>(info[2])};
  MemoryRegion::Memory memory = MemoryRegion::owner_of(info[1], bytes);
  ibv_mr* mr = register_memory(*pd, wanted);
  if (mr == nullptr) return failure(env, creation_error());
  tell_kept(*pd, mr, memory.block);
  return MemoryRegion::describe(
      env, std::make_shared<MemoryRegion>(pd, mr, std::move(memory), range_of(wanted), MemoryRegion::deregister));
}

// reregMr(mr, flags, pd | undefined, view | undefined, access | undefined): like regMr | [valid, -errno, like regMr |
// undefined]. `valid`: the region can be used: as it is described now, or unchanged.
Napi::Value rereg_mr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto region = take<MemoryRegion>(info, 0);
  const int flags = number_of<int>(info[1]);
  const auto pd = info[2].IsUndefined() ? region->pd() : take<ProtectionDomain>(info, 2);
  if (&pd->context() != &region->context()) return failure(env, EINVAL);
  MemoryRegion::Bytes bytes;
  const bool moved = !info[3].IsUndefined();
  if (moved) bytes = MemoryRegion::bytes_of(info[3]);
  if (moved && bytes.length == 0) return failure(env, EINVAL);
  // What does not change is kept: its memory is the adapter's still.
  const auto changes = [flags](int flag) { return (flags & flag) != 0; };
  if (changes(IBV_REREG_MR_CHANGE_TRANSLATION) != moved || changes(IBV_REREG_MR_CHANGE_PD) == info[2].IsUndefined()) {
    return failure(env, EINVAL);
  }
  MemoryRegion::Memory memory = moved ? MemoryRegion::owner_of(info[3], bytes) : region->memory();
  memory.dma_handle = region->memory().dma_handle;
  const int access = info[4].IsUndefined() ? 0 : number_of<int>(info[4]);
  errno = 0;
  const int error =
      region->context().functions().rereg_mr(region->mr(), flags, pd->pd(), bytes.data, bytes.length, access);
  const auto failed = [&](bool valid, Napi::Value described, int reason) {
    Napi::Array result = Napi::Array::New(env, 3);
    result.Set(0u, Napi::Boolean::New(env, valid));
    result.Set(1u, -reason);
    result.Set(2u, described);
    return result;
  };
  const int reason = error == 0 ? 0 : creation_error();
  // Where only the old memory's protection from fork could not be taken back, the new region is the valid one.
  const bool changed = error == 0 || error == IBV_REREG_MR_ERR_DO_FORK_OLD;
  if (!changed) return failed(error >= IBV_REREG_MR_ERR_DONT_FORK_NEW, env.Undefined(), reason);
  tell_kept(*pd, region->mr(), memory.block);
  MemoryRegion::Range range = region->range();
  if (moved) range = {reinterpret_cast<std::uintptr_t>(bytes.data), bytes.length};
  region->become(pd, std::move(memory), range);
  const Napi::Value described = MemoryRegion::describe(env, region);
  if (error != 0) return failed(true, described, reason);
  return described;
}

// isBlock(view: Uint8Array): does the memory come from allocMr?
Napi::Value is_block(const Napi::CallbackInfo& info) {
  const auto view = info[0].As<Napi::Uint8Array>();
  void* data = nullptr;
  std::size_t length = 0;
  if (napi_get_typedarray_info(info.Env(), view, nullptr, &length, &data, nullptr, nullptr) != napi_ok) {
    throw Napi::TypeError::New(info.Env(), "isBlock takes a typed array");
  }
  return Napi::Boolean::New(info.Env(), MemoryBlock::find(*Environment::of(info.Env()), data, length) != nullptr);
}

}  // namespace

void MemoryRegion::init(Napi::Object exports) {
  export_function<alloc_mr>(exports, "allocMr");
  export_function<reg_mr>(exports, "regMr");
  export_function<verbs::core::rereg_mr>(exports, "reregMr");
  export_function<is_block>(exports, "isBlock");
}

MemoryWindow::~MemoryWindow() {
  context().environment().memory_windows.erase(id_);
  dispose();
}

int MemoryWindow::destroy() { return ibv_dealloc_mw(mw_); }

int MemoryWindow::destroyed(int) {
  mw_ = nullptr;
  regions_.clear();
  context().environment().memory_windows.erase(id_);
  return 0;
}

void MemoryWindow::bind(const std::shared_ptr<MemoryRegion>& region) {
  std::erase_if(regions_, [&](const auto& earlier) { return earlier == region || !earlier->open(); });
  regions_.push_back(region);
  become_newest();
}

namespace {

// allocMw(pd, type): { handle, id, rkey } | -errno
Napi::Value alloc_mw(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = take<ProtectionDomain>(info, 0);
  errno = 0;
  ibv_mw* mw = ibv_alloc_mw(pd->pd(), number_of<ibv_mw_type>(info[1]));
  if (mw == nullptr) return failure(env, creation_error());
  const auto window = std::make_shared<MemoryWindow>(pd, mw);
  Napi::Object result = Napi::Object::New(env);
  result.Set("id", window->id());
  result.Set("rkey", mw->rkey);
  result.Set("handle", wrap_object(env, window));
  return result;
}

// mwRkey(mw): its rkey now; a bind changes it.
Napi::Value mw_rkey(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), take<MemoryWindow>(info, 0)->mw()->rkey);
}

}  // namespace

void MemoryWindow::init(Napi::Object exports) {
  export_function<alloc_mw>(exports, "allocMw");
  export_function<mw_rkey>(exports, "mwRkey");
}

}  // namespace verbs::core
