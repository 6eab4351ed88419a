#include "binding/memory/memory_window.h"

#include <cerrno>

#include "binding/lifetime/handle.h"

namespace verbs::core {

MemoryWindow::~MemoryWindow() {
  context().environment().memory_windows.Erase(id_);
  Dispose();
}

int MemoryWindow::Release() {
  if (const int error = ibv_dealloc_mw(mw_); error != 0) return error;
  mw_ = nullptr;
  regions_.clear();
  context().environment().memory_windows.Erase(id_);
  return 0;
}

void MemoryWindow::Bind(const std::shared_ptr<MemoryRegion>& region) {
  std::erase_if(regions_, [&](const auto& earlier) { return earlier == region || !earlier->open(); });
  regions_.push_back(region);
  BecomeNewest();
}

namespace {

// allocMw(pd, type): { handle, id, rkey } | -errno
Napi::Value AllocMw(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = Unwrap<ProtectionDomain>(info, 0);
  errno = 0;
  ibv_mw* mw = ibv_alloc_mw(pd->pd(), static_cast<ibv_mw_type>(info[1].As<Napi::Number>().Int32Value()));
  if (mw == nullptr) return Failure(env, CreationError());
  const auto window = std::make_shared<MemoryWindow>(pd, mw);
  Napi::Object result = Napi::Object::New(env);
  result.Set("id", window->id());
  result.Set("rkey", mw->rkey);
  result.Set("handle", WrapObject(env, window));
  return result;
}

// mwRkey(mw): its rkey now; a bind changes it.
Napi::Value MwRkey(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), Unwrap<MemoryWindow>(info, 0)->mw()->rkey);
}

// setMwRkey(mw, rkey): what a posted type 2 bind made it, as the C programmer notes it down in the structure.
Napi::Value SetMwRkey(const Napi::CallbackInfo& info) {
  Unwrap<MemoryWindow>(info, 0)->mw()->rkey = info[1].As<Napi::Number>().Uint32Value();
  return info.Env().Undefined();
}

}  // namespace

void MemoryWindow::Init(Napi::Object exports) {
  Export<AllocMw>(exports, "allocMw");
  Export<MwRkey>(exports, "mwRkey");
  Export<SetMwRkey>(exports, "setMwRkey");
}

}  // namespace verbs::core
