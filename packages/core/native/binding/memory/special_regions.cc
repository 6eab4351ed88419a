#include "binding/memory/special_regions.h"

#include <cerrno>
#include <vector>

#include "binding/lifetime/handle.h"
#include "binding/memory/device_memory.h"
#include "binding/memory/memory_region.h"

namespace verbs::core {
namespace {

int unimport_region(const Context& context, ibv_mr* mr) {
  context.functions().unimport_mr(mr);
  return 0;
}

std::uint64_t read_u64(const Napi::Value& value) {
  bool lossless = false;
  return value.As<Napi::BigInt>().Uint64Value(&lossless);
}

// nullMr(pd): like regMr. Reads of any address return zeros, and writes are dropped.
Napi::Value null_mr(const Napi::CallbackInfo& info) {
  const auto pd = unwrap<ProtectionDomain>(info, 0);
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
  const auto pd = unwrap<ProtectionDomain>(info, 0);
  const auto dm = unwrap<DeviceMemory>(info, 1);
  if (&dm->context() != &pd->context()) return failure(env, EINVAL);
  const auto offset = static_cast<std::uint64_t>(info[2].As<Napi::Number>().Int64Value());
  const auto length = static_cast<std::uint64_t>(info[3].As<Napi::Number>().Int64Value());
  const auto access = info[4].As<Napi::Number>().Uint32Value() | IBV_ACCESS_ZERO_BASED;
  errno = 0;
  ibv_mr* mr = ibv_reg_dm_mr(pd->pd(), dm->dm(), offset, length, access);
  if (mr == nullptr) return failure(env, creation_error());
  return MemoryRegion::describe(
      env, std::make_shared<MemoryRegion>(pd, mr, MemoryRegion::Memory{.block = nullptr, .view = nullptr, .device = dm},
                                          MemoryRegion::Range{0, length}, MemoryRegion::deregister));
}

// regDmabufMr(pd, offset, length, iova: bigint, fd, access): like regMr.
Napi::Value reg_dmabuf_mr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = unwrap<ProtectionDomain>(info, 0);
  const auto offset = static_cast<std::uint64_t>(info[1].As<Napi::Number>().Int64Value());
  const auto length = static_cast<std::uint64_t>(info[2].As<Napi::Number>().Int64Value());
  const std::uint64_t iova = read_u64(info[3]);
  const Functions& functions = pd->context().functions();
  if (functions.reg_dmabuf_mr == nullptr) return failure(env, EOPNOTSUPP);
  errno = 0;
  ibv_mr* mr = functions.reg_dmabuf_mr(pd->pd(), offset, length, iova, info[4].As<Napi::Number>().Int32Value(),
                                       info[5].As<Napi::Number>().Int32Value());
  if (mr == nullptr) return failure(env, creation_error());
  return MemoryRegion::describe(
      env, std::make_shared<MemoryRegion>(pd, mr, MemoryRegion::Memory{}, MemoryRegion::Range{iova, length},
                                          MemoryRegion::deregister));
}

// importMr(pd, mrHandle): like regMr. The library reports its range; the exporter keeps its memory alive.
Napi::Value import_mr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = unwrap<ProtectionDomain>(info, 0);
  const Functions& functions = pd->context().functions();
  if (functions.import_mr == nullptr) return failure(env, EOPNOTSUPP);
  errno = 0;
  ibv_mr* mr = functions.import_mr(pd->pd(), info[1].As<Napi::Number>().Uint32Value());
  if (mr == nullptr) return failure(env, creation_error());
  const MemoryRegion::Range range{reinterpret_cast<std::uintptr_t>(mr->addr), mr->length};
  Napi::Object result = MemoryRegion::describe(
      env, std::make_shared<MemoryRegion>(pd, mr, MemoryRegion::Memory{}, range, unimport_region));
  result.Set("length", static_cast<double>(range.length));
  return result;
}

// adviseMr(pd, advice, flags, elements: [mr, offset, length][]): 0 | -errno
Napi::Value advise_mr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = unwrap<ProtectionDomain>(info, 0);
  const auto list = info[3].As<Napi::Array>();
  std::vector<ibv_sge> sges(list.Length());
  std::vector<Held<MemoryRegion>> regions;
  for (std::uint32_t i = 0; i < sges.size(); i++) {
    const auto element = list.Get(i).As<Napi::Array>();
    Held<MemoryRegion> region = hold<MemoryRegion>(env, element.Get(0u));
    const auto offset = static_cast<std::uint64_t>(element.Get(1u).As<Napi::Number>().Int64Value());
    const std::uint32_t length = element.Get(2u).As<Napi::Number>().Uint32Value();
    if (!region->contains(offset, length) || &region->context() != &pd->context()) return failure(env, EINVAL);
    sges[i] = {region->start() + offset, length, region->mr()->lkey};
    regions.push_back(std::move(region));
  }
  const int error =
      ibv_advise_mr(pd->pd(), static_cast<ibv_advise_mr_advice>(info[1].As<Napi::Number>().Int32Value()),
                    info[2].As<Napi::Number>().Uint32Value(), sges.data(), static_cast<std::uint32_t>(sges.size()));
  return failure(env, error < 0 ? -error : error);
}

}  // namespace

void init_special_regions(Napi::Object exports) {
  export_function<null_mr>(exports, "nullMr");
  export_function<reg_dm_mr>(exports, "regDmMr");
  export_function<reg_dmabuf_mr>(exports, "regDmabufMr");
  export_function<import_mr>(exports, "importMr");
  export_function<advise_mr>(exports, "adviseMr");
}

}  // namespace verbs::core
