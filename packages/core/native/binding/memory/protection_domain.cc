#include "binding/memory/protection_domain.h"

#include <cerrno>

#include "binding/device/domains.h"
#include "binding/lifetime/handle.h"

namespace verbs::core {

int ProtectionDomain::Release() {
  if (const int error = destroy_(*context_, pd_); error != 0) return error;
  pd_ = nullptr;
  return 0;
}

namespace {

int Dealloc(const Context& context, ibv_pd* pd) { return context.functions().dealloc_pd(pd); }

int Unimport(const Context& context, ibv_pd* pd) {
  context.functions().unimport_pd(pd);
  return 0;
}

std::shared_ptr<Context> SharedContext(const Object& object) {
  auto& context = const_cast<Context&>(object.context());
  return std::static_pointer_cast<Context>(context.shared_from_this());
}

Napi::Value Made(Napi::Env env, const std::vector<std::shared_ptr<Object>>& parents, ibv_pd* pd,
                 ProtectionDomain::Destroy destroy) {
  if (pd == nullptr) return Failure(env, CreationError());
  return WrapObject(env, std::make_shared<ProtectionDomain>(SharedContext(*parents.front()), parents, pd, destroy));
}

// allocPd(context): handle | -errno
Napi::Value AllocPd(const Napi::CallbackInfo& info) {
  const auto context = Unwrap<Context>(info, 0);
  errno = 0;
  return Made(info.Env(), {context}, context->functions().alloc_pd(context->ctx()), Dealloc);
}

// allocParentDomain(pd, td | undefined): handle | -errno
Napi::Value AllocParentDomain(const Napi::CallbackInfo& info) {
  const auto pd = Unwrap<ProtectionDomain>(info, 0);
  ibv_parent_domain_init_attr attr{};
  attr.pd = pd->pd();
  std::vector<std::shared_ptr<Object>> parents{pd};
  if (!info[1].IsUndefined()) {
    const auto td = Unwrap<ThreadDomain>(info, 1);
    if (&td->context() != &pd->context()) return Failure(info.Env(), EINVAL);
    attr.td = td->get();
    parents.push_back(td);
  }
  errno = 0;
  return Made(info.Env(), parents, ibv_alloc_parent_domain(pd->context().ctx(), &attr), Dealloc);
}

// importPd(context, pdHandle): handle | -errno
Napi::Value ImportPd(const Napi::CallbackInfo& info) {
  const auto context = Unwrap<Context>(info, 0);
  if (context->functions().import_pd == nullptr) return Failure(info.Env(), EOPNOTSUPP);
  errno = 0;
  return Made(info.Env(), {context},
              context->functions().import_pd(context->ctx(), info[1].As<Napi::Number>().Uint32Value()), Unimport);
}

// pdHandle(pd): what importPd takes.
Napi::Value PdHandle(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), Unwrap<ProtectionDomain>(info, 0)->pd()->handle);
}

}  // namespace

void ProtectionDomain::Init(Napi::Object exports) {
  Export<AllocPd>(exports, "allocPd");
  Export<AllocParentDomain>(exports, "allocParentDomain");
  Export<ImportPd>(exports, "importPd");
  Export<verbs::core::PdHandle>(exports, "pdHandle");
}

}  // namespace verbs::core
