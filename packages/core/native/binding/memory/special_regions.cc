#include "binding/memory/special_regions.h"

#include <cerrno>
#include <vector>

#include "binding/lifetime/handle.h"
#include "binding/memory/buffers.h"
#include "binding/memory/device_memory.h"
#include "binding/memory/memory_region.h"

namespace verbs::core {
namespace {

int unimport_region(const Context& context, ibv_mr* mr) {
  context.functions().unimport_mr(mr);
  return 0;
}

// A library trusts the range, and casts the buffer to its own structure.
bool is_in(const LibraryBuffer& buffer, const ProtectionDomain& pd, std::uint64_t offset, std::uint64_t length) {
  return &buffer.pd() == &pd && length != 0 && offset <= buffer.length() && length <= buffer.length() - offset;
}

// nullMr(pd): like regMr. Reads of any address return zeros, and writes are dropped.
Napi::Value null_mr(const Napi::CallbackInfo& info) {
  const auto pd = take<ProtectionDomain>(info, 0);
  errno = 0;
  ibv_mr* mr = ibv_alloc_null_mr(pd->pd());
  if (mr == nullptr) return failure(info.Env(), creation_error());
  return MemoryRegion::describe(
      info.Env(), std::make_shared<MemoryRegion>(pd, mr, MemoryRegion::Memory{}, MemoryRegion::Range{0, UINT64_MAX},
                                                 MemoryRegion::deregister));
}

// regDmMr(pd, dm, offset, length, access): like regMr. Zero-based.
Napi::Value reg_dm_mr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = take<ProtectionDomain>(info, 0);
  const auto dm = take<DeviceMemory>(info, 1);
  if (&dm->context() != &pd->context()) return failure(env, EINVAL);
  const auto offset = number_of<std::uint64_t>(info[2]);
  const auto length = number_of<std::uint64_t>(info[3]);
  const auto access = number_of<std::uint32_t>(info[4]) | IBV_ACCESS_ZERO_BASED;
  errno = 0;
  ibv_mr* mr = ibv_reg_dm_mr(pd->pd(), dm->dm(), offset, length, access);
  if (mr == nullptr) return failure(env, creation_error());
  return MemoryRegion::describe(
      env, std::make_shared<MemoryRegion>(pd, mr, MemoryRegion::Memory{.object = dm}, MemoryRegion::Range{0, length},
                                          MemoryRegion::deregister));
}

// regDmabufMr(pd, offset, length, iova: bigint, fd, access): like regMr.
Napi::Value reg_dmabuf_mr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = take<ProtectionDomain>(info, 0);
  const auto offset = number_of<std::uint64_t>(info[1]);
  const auto length = number_of<std::uint64_t>(info[2]);
  const std::uint64_t iova = u64_of(info[3]);
  const Functions& functions = pd->context().functions();
  if (functions.reg_dmabuf_mr == nullptr) return failure(env, EOPNOTSUPP);
  errno = 0;
  ibv_mr* mr =
      functions.reg_dmabuf_mr(pd->pd(), offset, length, iova, number_of<int>(info[4]), number_of<int>(info[5]));
  if (mr == nullptr) return failure(env, creation_error());
  return MemoryRegion::describe(
      env, std::make_shared<MemoryRegion>(pd, mr, MemoryRegion::Memory{}, MemoryRegion::Range{iova, length},
                                          MemoryRegion::deregister));
}

// The addresses that the keys of a region at `iova` are good for.
MemoryRegion::Range range_of(int access, std::uint64_t iova, std::uint64_t length) {
  return {(access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : iova, length};
}

// regBufMr(pd, buf, offset, length, access): like regMr. A buffer of another domain is EINVAL.
Napi::Value reg_buf_mr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = take<ProtectionDomain>(info, 0);
  const auto buffer = take<LibraryBuffer>(info, 1);
  const auto offset = number_of<std::uint64_t>(info[2]);
  const auto length = number_of<std::uint64_t>(info[3]);
  const auto reg = pd->context().functions().reg_buf_mr;
  if (reg == nullptr) return failure(env, EOPNOTSUPP);
  if (!is_in(*buffer, *pd, offset, length)) return failure(env, EINVAL);
  const int access = number_of<int>(info[4]);
  std::byte* start = buffer->data() + offset;
  errno = 0;
  ibv_mr* mr = reg(pd->pd(), buffer->buf(), start, length, access);
  if (mr == nullptr) return failure(env, creation_error());
  return MemoryRegion::describe(
      env, std::make_shared<MemoryRegion>(pd, mr, MemoryRegion::Memory{.object = buffer, .data = start},
                                          range_of(access, reinterpret_cast<std::uintptr_t>(start), length),
                                          MemoryRegion::deregister));
}

// ibv_mr_init_attr, and the bits of its comp_mask.
struct MrInitAttr {
  enum : std::uint64_t { kIova = 1, kAddr = 2, kFd = 4, kFdOffset = 8, kDmah = 16, kBuf = 32 };
  std::size_t length = 0;
  int access = 0;
  std::uint64_t comp_mask = 0;
  std::uint64_t iova = 0;
  void* addr = nullptr;
  int fd = -1;
  std::uint64_t fd_offset = 0;
  ibv_dmah* dmah = nullptr;
  ibv_buf* buf = nullptr;
};

// regMrEx(pd, access, { view } | { buf, offset, length } | { fd, offset, length }, iova | undefined, dmah | undefined):
// like regMr.
Napi::Value reg_mr_ex(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = take<ProtectionDomain>(info, 0);
  const auto reg = pd->context().functions().reg_mr_ex;
  if (reg == nullptr) return failure(env, EOPNOTSUPP);
  MrInitAttr attr;
  attr.access = number_of<int>(info[1]);
  const Fields source(info[2]);
  const Napi::Value view = source["view"], buf = source["buf"];
  MemoryRegion::Memory memory;
  Taken<LibraryBuffer> buffer;
  Taken<DmaHandle> handle;
  if (!view.IsUndefined()) {
    const MemoryRegion::Bytes bytes = MemoryRegion::bytes_of(view);
    if (bytes.length == 0) return failure(env, EINVAL);
    memory = MemoryRegion::owner_of(view, bytes);
    attr.comp_mask = MrInitAttr::kAddr;
    attr.addr = bytes.data;
    attr.length = bytes.length;
  } else {
    const auto offset = source.number<std::uint64_t>("offset");
    attr.length = source.number<std::size_t>("length");
    if (!buf.IsUndefined()) {
      buffer = take<LibraryBuffer>(env, buf);
      if (!is_in(*buffer, *pd, offset, attr.length)) return failure(env, EINVAL);
      memory.object = buffer;
      memory.data = buffer->data() + offset;
      attr.comp_mask = MrInitAttr::kAddr | MrInitAttr::kBuf;
      attr.addr = buffer->data() + offset;
      attr.buf = buffer->buf();
    } else {
      attr.comp_mask = MrInitAttr::kFd | MrInitAttr::kFdOffset;
      attr.fd = source.number<int>("fd");
      attr.fd_offset = offset;
    }
  }
  attr.iova = attr.addr == nullptr ? attr.fd_offset : reinterpret_cast<std::uintptr_t>(attr.addr);
  if (!info[3].IsUndefined()) attr.iova = u64_of(info[3]);
  // A dma-buf has no address of its own; a buffer that is one takes no other than its own.
  if (!info[3].IsUndefined() || attr.addr == nullptr) attr.comp_mask |= MrInitAttr::kIova;
  if (!info[4].IsUndefined()) {
    handle = take<DmaHandle>(info, 4);
    if (&handle->context() != &pd->context()) return failure(env, EINVAL);
    memory.dma_handle = handle;
    attr.comp_mask |= MrInitAttr::kDmah;
    attr.dmah = handle->get();
  }
  errno = 0;
  ibv_mr* mr = reg(pd->pd(), &attr);
  if (mr == nullptr) return failure(env, creation_error());
  return MemoryRegion::describe(
      env, std::make_shared<MemoryRegion>(pd, mr, std::move(memory), range_of(attr.access, attr.iova, attr.length),
                                          MemoryRegion::deregister));
}

// importMr(pd, mrHandle, addr: bigint): like regMr. The library reports the length, and not the address that the keys
// are good for; the exporter keeps its memory alive.
Napi::Value import_mr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = take<ProtectionDomain>(info, 0);
  const Functions& functions = pd->context().functions();
  if (functions.import_mr == nullptr) return failure(env, EOPNOTSUPP);
  const std::uint64_t start = u64_of(info[2]);
  errno = 0;
  ibv_mr* mr = functions.import_mr(pd->pd(), number_of<std::uint32_t>(info[1]));
  if (mr == nullptr) return failure(env, creation_error());
  const MemoryRegion::Range range{start, mr->length};
  Napi::Object result = MemoryRegion::describe(
      env, std::make_shared<MemoryRegion>(pd, mr, MemoryRegion::Memory{}, range, unimport_region));
  result.Set("length", static_cast<double>(range.length));
  return result;
}

// adviseMr(pd, advice, flags, elements: [mr, offset, length][]): 0 | -errno
Napi::Value advise_mr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = take<ProtectionDomain>(info, 0);
  const auto list = info[3].As<Napi::Array>();
  std::vector<ibv_sge> sges(list.Length());
  std::vector<Taken<MemoryRegion>> regions;
  for (std::uint32_t i = 0; i < sges.size(); i++) {
    const auto element = list.Get(i).As<Napi::Array>();
    Taken<MemoryRegion> region = take<MemoryRegion>(env, element.Get(0u));
    const auto offset = number_of<std::uint64_t>(element.Get(1u));
    const std::uint32_t length = number_of<std::uint32_t>(element.Get(2u));
    if (!region->contains(offset, length) || &region->context() != &pd->context()) return failure(env, EINVAL);
    sges[i] = {region->start() + offset, length, region->mr()->lkey};
    regions.push_back(std::move(region));
  }
  const int error = ibv_advise_mr(pd->pd(), number_of<ibv_advise_mr_advice>(info[1]), number_of<std::uint32_t>(info[2]),
                                  sges.data(), static_cast<std::uint32_t>(sges.size()));
  return failure(env, error < 0 ? -error : error);
}

}  // namespace

void init_special_regions(Napi::Object exports) {
  export_function<null_mr>(exports, "nullMr");
  export_function<reg_dm_mr>(exports, "regDmMr");
  export_function<reg_dmabuf_mr>(exports, "regDmabufMr");
  export_function<reg_buf_mr>(exports, "regBufMr");
  export_function<reg_mr_ex>(exports, "regMrEx");
  export_function<import_mr>(exports, "importMr");
  export_function<advise_mr>(exports, "adviseMr");
}

namespace {

// ibv_dmah_init_attr.
struct InitAttr {
  std::uint32_t comp_mask = 0;  // which of the fields are there, one bit each in their order
  std::uint32_t cpu_id = 0;
  std::uint8_t ph = 0;
  std::uint8_t tph_mem_type = 0;
};

// allocDmah(context, cpuId | undefined, ph | undefined, tphMemType | undefined): handle | -errno
Napi::Value alloc_dmah(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  const Functions& functions = context->functions();
  if (functions.alloc_dmah == nullptr || functions.dealloc_dmah == nullptr) return failure(info.Env(), EOPNOTSUPP);
  InitAttr attr;
  const auto read = [&](std::size_t index, auto& field) {
    if (info[index].IsUndefined()) return;
    field = number_of<std::remove_reference_t<decltype(field)>>(info[index]);
    attr.comp_mask |= 1u << (index - 1);
  };
  read(1, attr.cpu_id);
  read(2, attr.ph);
  read(3, attr.tph_mem_type);
  errno = 0;
  ibv_dmah* handle = functions.alloc_dmah(context->ctx(), &attr);
  if (handle == nullptr) return failure(info.Env(), creation_error());
  return wrap_object(info.Env(), std::make_shared<DmaHandle>(std::vector<std::shared_ptr<Object>>{context}, handle,
                                                             [](const Context& its, ibv_dmah* made) {
                                                               return its.functions().dealloc_dmah(made);
                                                             }));
}

}  // namespace

void init_dma_handle(Napi::Object exports) { export_function<alloc_dmah>(exports, "allocDmah"); }

}  // namespace verbs::core
