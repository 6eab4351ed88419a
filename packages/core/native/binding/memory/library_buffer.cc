#include "binding/memory/library_buffer.h"

#include <cerrno>
#include <cstring>

#include "binding/memory/copy.h"

namespace verbs::core {

int LibraryBuffer::destroy() {
  context().functions().free_buf(buf_);
  return 0;
}

int LibraryBuffer::destroyed(int) {
  buf_ = nullptr;
  return 0;
}

namespace {

// allocBuf(pd, length): handle | -errno
Napi::Value alloc_buf(const Napi::CallbackInfo& info) {
  const auto pd = unwrap<ProtectionDomain>(info, 0);
  const Functions& functions = pd->context().functions();
  if (functions.alloc_buf == nullptr || functions.free_buf == nullptr) return failure(info.Env(), EOPNOTSUPP);
  const auto length = static_cast<std::size_t>(info[1].As<Napi::Number>().Int64Value());
  ibv_buf* buf = nullptr;
  errno = 0;
  void* data = functions.alloc_buf(pd->pd(), length, &buf);
  if (data == nullptr) return failure(info.Env(), creation_error());
  return wrap_object(info.Env(), std::make_shared<LibraryBuffer>(pd, buf, static_cast<std::byte*>(data), length));
}

// copyToBuf(buf, offset, bytes), copyFromBuf(buf, offset, bytes): 0 | -errno
Napi::Value copy_to_buf(const Napi::CallbackInfo& info) {
  const auto copy = read_copy<LibraryBuffer>(info);
  if (!copy.inside) return failure(info.Env(), EINVAL);
  if (copy.size != 0) std::memcpy(copy.memory->data() + copy.offset, copy.data, copy.size);
  return failure(info.Env(), 0);
}

Napi::Value copy_from_buf(const Napi::CallbackInfo& info) {
  const auto copy = read_copy<LibraryBuffer>(info);
  if (!copy.inside) return failure(info.Env(), EINVAL);
  if (copy.size != 0) std::memcpy(copy.data, copy.memory->data() + copy.offset, copy.size);
  return failure(info.Env(), 0);
}

// exportBufFd(buf): a descriptor, which the caller closes | -errno
Napi::Value export_buf_fd(const Napi::CallbackInfo& info) {
  const auto buffer = unwrap<LibraryBuffer>(info, 0);
  const auto call = buffer->context().functions().export_buf_dmabuf_fd;
  if (call == nullptr) return failure(info.Env(), EOPNOTSUPP);
  errno = 0;
  const int fd = call(buffer->buf());
  return fd < 0 ? failure(info.Env(), creation_error()) : Napi::Value(Napi::Number::New(info.Env(), fd));
}

}  // namespace

void LibraryBuffer::init(Napi::Object exports) {
  export_function<alloc_buf>(exports, "allocBuf");
  export_function<copy_to_buf>(exports, "copyToBuf");
  export_function<copy_from_buf>(exports, "copyFromBuf");
  export_function<export_buf_fd>(exports, "exportBufFd");
}

}  // namespace verbs::core
