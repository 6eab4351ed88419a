#include "address_handle.h"

#include <cerrno>

#include "gid.h"
#include "handle.h"

namespace verbs::core {

AddressHandle::AddressHandle(std::shared_ptr<ProtectionDomain> pd, ibv_ah* ah)
    : Object(kKind, {pd}), pd_(std::move(pd)), ah_(ah), id_(context().environment().address_handles.Insert(this)) {}

AddressHandle::~AddressHandle() {
  context().environment().address_handles.Erase(id_);
  Dispose();
}

int AddressHandle::Release() {
  if (const int error = context().functions().destroy_ah(ah_); error != 0) return error;
  ah_ = nullptr;
  context().environment().address_handles.Erase(id_);
  return 0;
}

namespace {

// createAh(pd, attr): { handle, id } | -errno
Napi::Value CreateAh(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = Unwrap<ProtectionDomain>(info, 0);
  ibv_ah_attr attr = ReadAhAttr(info[1].As<Napi::Object>());
  errno = 0;
  ibv_ah* ah = pd->context().functions().create_ah(pd->pd(), &attr);
  if (ah == nullptr) return Failure(env, CreationError());
  const auto handle = std::make_shared<AddressHandle>(pd, ah);
  Napi::Object result = Napi::Object::New(env);
  result.Set("id", handle->id());
  result.Set("handle", WrapObject(env, handle));
  return result;
}

}  // namespace

void AddressHandle::Init(Napi::Object exports) { Export<CreateAh>(exports, "createAh"); }

}  // namespace verbs::core
