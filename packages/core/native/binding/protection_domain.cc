#include "protection_domain.h"

#include <cerrno>

#include "handle.h"

namespace verbs::core {

int ProtectionDomain::Release() {
  if (const int error = context_->functions().dealloc_pd(pd_); error != 0) return error;
  pd_ = nullptr;
  return 0;
}

namespace {

// allocPd(context): handle | -errno
Napi::Value AllocPd(const Napi::CallbackInfo& info) {
  const auto context = Unwrap<Context>(info, 0);
  errno = 0;
  ibv_pd* pd = context->functions().alloc_pd(context->ctx());
  if (pd == nullptr) return Failure(info.Env(), CreationError());
  return WrapObject(info.Env(), std::make_shared<ProtectionDomain>(context, pd));
}

}  // namespace

void ProtectionDomain::Init(Napi::Object exports) { Export<AllocPd>(exports, "allocPd"); }

}  // namespace verbs::core
