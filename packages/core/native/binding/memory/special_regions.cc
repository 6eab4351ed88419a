#include "binding/memory/special_regions.h"

#include <cerrno>
#include <vector>

#include "binding/lifetime/handle.h"
#include "binding/memory/device_memory.h"
#include "binding/memory/memory_region.h"

namespace verbs::core {
namespace {

int Unimport(const Context& context, ibv_mr* mr) {
  context.functions().unimport_mr(mr);
  return 0;
}

std::uint64_t ReadU64(const Napi::Value& value) {
  bool lossless = false;
  return value.As<Napi::BigInt>().Uint64Value(&lossless);
}

// nullMr(pd): like regMr. Reading gives zeros, writing goes nowhere, at every address.
Napi::Value NullMr(const Napi::CallbackInfo& info) {
  const auto pd = Unwrap<ProtectionDomain>(info, 0);
  errno = 0;
  ibv_mr* mr = ibv_alloc_null_mr(pd->pd());
  if (mr == nullptr) return Failure(info.Env(), CreationError());
  return MemoryRegion::Describe(
      info.Env(), std::make_shared<MemoryRegion>(pd, mr, MemoryRegion::Memory{}, MemoryRegion::Range{0, UINT64_MAX},
                                                 MemoryRegion::Deregister));
}

// regDmMr(pd, dm, offset, length, access): like regMr. Zero-based.
Napi::Value RegDmMr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = Unwrap<ProtectionDomain>(info, 0);
  const auto dm = Unwrap<DeviceMemory>(info, 1);
  if (&dm->context() != &pd->context()) return Failure(env, EINVAL);
  const auto offset = static_cast<std::uint64_t>(info[2].As<Napi::Number>().Int64Value());
  const auto length = static_cast<std::uint64_t>(info[3].As<Napi::Number>().Int64Value());
  const auto access = info[4].As<Napi::Number>().Uint32Value() | IBV_ACCESS_ZERO_BASED;
  errno = 0;
  ibv_mr* mr = ibv_reg_dm_mr(pd->pd(), dm->dm(), offset, length, access);
  if (mr == nullptr) return Failure(env, CreationError());
  return MemoryRegion::Describe(
      env, std::make_shared<MemoryRegion>(pd, mr, MemoryRegion::Memory{.block = nullptr, .view = nullptr, .device = dm},
                                          MemoryRegion::Range{0, length}, MemoryRegion::Deregister));
}

// regDmabufMr(pd, offset, length, iova: bigint, fd, access): like regMr.
Napi::Value RegDmabufMr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = Unwrap<ProtectionDomain>(info, 0);
  const auto offset = static_cast<std::uint64_t>(info[1].As<Napi::Number>().Int64Value());
  const auto length = static_cast<std::uint64_t>(info[2].As<Napi::Number>().Int64Value());
  const std::uint64_t iova = ReadU64(info[3]);
  const Functions& functions = pd->context().functions();
  if (functions.reg_dmabuf_mr == nullptr) return Failure(env, EOPNOTSUPP);
  errno = 0;
  ibv_mr* mr = functions.reg_dmabuf_mr(pd->pd(), offset, length, iova, info[4].As<Napi::Number>().Int32Value(),
                                       info[5].As<Napi::Number>().Int32Value());
  if (mr == nullptr) return Failure(env, CreationError());
  return MemoryRegion::Describe(
      env, std::make_shared<MemoryRegion>(pd, mr, MemoryRegion::Memory{}, MemoryRegion::Range{iova, length},
                                          MemoryRegion::Deregister));
}

// importMr(pd, mrHandle): like regMr. Its range is what the library says; its memory is the exporter's to keep.
Napi::Value ImportMr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = Unwrap<ProtectionDomain>(info, 0);
  const Functions& functions = pd->context().functions();
  if (functions.import_mr == nullptr) return Failure(env, EOPNOTSUPP);
  errno = 0;
  ibv_mr* mr = functions.import_mr(pd->pd(), info[1].As<Napi::Number>().Uint32Value());
  if (mr == nullptr) return Failure(env, CreationError());
  const MemoryRegion::Range range{reinterpret_cast<std::uintptr_t>(mr->addr), mr->length};
  Napi::Object result =
      MemoryRegion::Describe(env, std::make_shared<MemoryRegion>(pd, mr, MemoryRegion::Memory{}, range, Unimport));
  result.Set("length", static_cast<double>(range.length));
  return result;
}

// adviseMr(pd, advice, flags, elements: [mr, offset, length][]): 0 | -errno
Napi::Value AdviseMr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = Unwrap<ProtectionDomain>(info, 0);
  const auto list = info[3].As<Napi::Array>();
  std::vector<ibv_sge> sges(list.Length());
  std::vector<std::shared_ptr<MemoryRegion>> regions;
  for (std::uint32_t i = 0; i < sges.size(); i++) {
    const auto element = list.Get(i).As<Napi::Array>();
    const auto region = std::static_pointer_cast<MemoryRegion>(UnwrapOpen(env, element.Get(0u), MemoryRegion::kKind));
    const auto offset = static_cast<std::uint64_t>(element.Get(1u).As<Napi::Number>().Int64Value());
    const std::uint32_t length = element.Get(2u).As<Napi::Number>().Uint32Value();
    if (!region->Contains(offset, length) || &region->context() != &pd->context()) return Failure(env, EINVAL);
    sges[i] = {region->start() + offset, length, region->mr()->lkey};
    regions.push_back(region);
  }
  const int error =
      ibv_advise_mr(pd->pd(), static_cast<ibv_advise_mr_advice>(info[1].As<Napi::Number>().Int32Value()),
                    info[2].As<Napi::Number>().Uint32Value(), sges.data(), static_cast<std::uint32_t>(sges.size()));
  return Failure(env, error < 0 ? -error : error);
}

}  // namespace

void InitSpecialRegions(Napi::Object exports) {
  Export<NullMr>(exports, "nullMr");
  Export<RegDmMr>(exports, "regDmMr");
  Export<RegDmabufMr>(exports, "regDmabufMr");
  Export<ImportMr>(exports, "importMr");
  Export<AdviseMr>(exports, "adviseMr");
}

}  // namespace verbs::core
