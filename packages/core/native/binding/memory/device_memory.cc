#include "binding/memory/device_memory.h"

#include <cerrno>

#include "binding/memory/buffers.h"

namespace verbs::core {

int DeviceMemory::destroy() {
  if (!imported_) return ibv_free_dm(dm_);
  context_->functions().unimport_dm(dm_);
  return 0;
}

int DeviceMemory::destroyed(int) {
  dm_ = nullptr;
  return 0;
}

namespace {

Napi::Value created(Napi::Env env, const std::shared_ptr<Context>& context, ibv_dm* dm, std::uint64_t length,
                    bool imported) {
  if (dm == nullptr) return failure(env, creation_error());
  const auto memory = std::make_shared<DeviceMemory>(context, dm, length, imported);
  Napi::Object result = Napi::Object::New(env);
  result.Set("dmHandle", dm->handle);
  result.Set("handle", wrap_object(env, memory));
  return result;
}

// allocDm(context, length, logAlignment): { handle, dmHandle } | -errno
Napi::Value alloc_dm_by(Napi::Env env, const napi_value* arguments, const VendorMake* vendor) {
  const auto context = take<Context>(env, arguments[0]);
  ibv_alloc_dm_attr attr{};
  attr.length = number_of<std::size_t>(Napi::Value(env, arguments[1]));
  attr.log_align_req = number_of<std::uint32_t>(Napi::Value(env, arguments[2]));
  errno = 0;
  ibv_dm* dm =
      vendor != nullptr ? (*vendor).operator()<ibv_dm>(context->ctx(), &attr) : ibv_alloc_dm(context->ctx(), &attr);
  return created(env, context, dm, attr.length, false);
}

Napi::Value alloc_dm(const Napi::CallbackInfo& info) {
  return alloc_dm_by(info.Env(), arguments_from(info, 0).data(), nullptr);
}

// importDm(context, dmHandle, length): { handle, dmHandle } | -errno. The library tells no length: the program gives
// that of alloc_dm, and nothing checks it.
Napi::Value import_dm(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  const auto length = number_of<std::uint64_t>(info[2]);
  if (context->functions().import_dm == nullptr) return failure(info.Env(), EOPNOTSUPP);
  errno = 0;
  return created(info.Env(), context, context->functions().import_dm(context->ctx(), number_of<std::uint32_t>(info[1])),
                 length, true);
}

// copyToDm(dm, offset, bytes), copyFromDm(dm, offset, bytes): 0 | -errno
Napi::Value copy_to_dm(const Napi::CallbackInfo& info) {
  const auto copy = read_copy<DeviceMemory>(info);
  return failure(info.Env(),
                 copy.inside ? ibv_memcpy_to_dm(copy.memory->dm(), copy.offset, copy.data, copy.size) : EINVAL);
}

Napi::Value copy_from_dm(const Napi::CallbackInfo& info) {
  const auto copy = read_copy<DeviceMemory>(info);
  return failure(info.Env(),
                 copy.inside ? ibv_memcpy_from_dm(copy.data, copy.memory->dm(), copy.offset, copy.size) : EINVAL);
}

// exportDmFd(dm): a descriptor, which the caller closes | -errno
Napi::Value export_dm_fd(const Napi::CallbackInfo& info) {
  const auto memory = take<DeviceMemory>(info, 0);
  const auto call = memory->context().functions().dm_export_dmabuf_fd;
  if (call == nullptr) return failure(info.Env(), EOPNOTSUPP);
  errno = 0;
  const int fd = call(memory->dm());
  return fd < 0 ? failure(info.Env(), creation_error()) : number(info.Env(), fd);
}

}  // namespace

Napi::Value DeviceMemory::alloc(Napi::Env env, const napi_value* arguments, const VendorMake& vendor) {
  return alloc_dm_by(env, arguments, &vendor);
}

void DeviceMemory::init(Napi::Object exports) {
  export_function<alloc_dm>(exports, "allocDm");
  export_function<import_dm>(exports, "importDm");
  export_function<copy_to_dm>(exports, "copyToDm");
  export_function<copy_from_dm>(exports, "copyFromDm");
  export_function<export_dm_fd>(exports, "exportDmFd");
}

}  // namespace verbs::core
