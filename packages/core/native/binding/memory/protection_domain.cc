#include "binding/memory/protection_domain.h"

#include <cerrno>

#include "binding/device/domains.h"
#include "binding/lifetime/handle.h"

namespace verbs::core {

int ProtectionDomain::destroy() { return destroy_(*context_, pd_); }

int ProtectionDomain::destroyed(int) {
  pd_ = nullptr;
  return 0;
}

namespace {

int dealloc(const Context& context, ibv_pd* pd) { return context.functions().dealloc_pd(pd); }

int unimport(const Context& context, ibv_pd* pd) {
  context.functions().unimport_pd(pd);
  return 0;
}

std::shared_ptr<Context> shared_context(const Object& object) {
  auto& context = const_cast<Context&>(object.context());
  return std::static_pointer_cast<Context>(context.shared_from_this());
}

Napi::Value created(Napi::Env env, const std::vector<std::shared_ptr<Object>>& parents, ibv_pd* pd,
                    ProtectionDomain::Destroy destroy) {
  if (pd == nullptr) return failure(env, creation_error());
  return wrap_object(env, std::make_shared<ProtectionDomain>(shared_context(*parents.front()), parents, pd, destroy));
}

// allocPd(context): handle | -errno
Napi::Value alloc_pd(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  errno = 0;
  return created(info.Env(), {context}, context->functions().alloc_pd(context->ctx()), dealloc);
}

// IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC, since release 64.
constexpr std::uint32_t kAllowUnprotectedAlloc = 1u << 2;

// allocParentDomain(pd, td | undefined, allowCcUnprotectedAlloc): handle | -errno
Napi::Value alloc_parent_domain(const Napi::CallbackInfo& info) {
  const auto pd = take<ProtectionDomain>(info, 0);
  ibv_parent_domain_init_attr attr{};
  attr.pd = pd->pd();
  std::vector<std::shared_ptr<Object>> parents{pd};
  if (!info[1].IsUndefined()) {
    const auto td = take<ThreadDomain>(info, 1);
    if (&td->context() != &pd->context()) return failure(info.Env(), EINVAL);
    attr.td = td->get();
    parents.push_back(td);
  }
  if (flag_of(info[2])) attr.comp_mask |= kAllowUnprotectedAlloc;
  errno = 0;
  return created(info.Env(), parents, ibv_alloc_parent_domain(pd->context().ctx(), &attr), dealloc);
}

// importPd(context, pdHandle): handle | -errno
Napi::Value import_pd(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  if (context->functions().import_pd == nullptr) return failure(info.Env(), EOPNOTSUPP);
  errno = 0;
  return created(info.Env(), {context},
                 context->functions().import_pd(context->ctx(), number_of<std::uint32_t>(info[1])), unimport);
}

// pdHandle(pd): the argument of importPd.
Napi::Value pd_handle(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), take<ProtectionDomain>(info, 0)->pd()->handle);
}

}  // namespace

void ProtectionDomain::init(Napi::Object exports) {
  export_function<alloc_pd>(exports, "allocPd");
  export_function<alloc_parent_domain>(exports, "allocParentDomain");
  export_function<import_pd>(exports, "importPd");
  export_function<verbs::core::pd_handle>(exports, "pdHandle");
}

}  // namespace verbs::core
