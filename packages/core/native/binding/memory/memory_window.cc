#include "binding/memory/memory_window.h"

#include <cerrno>

#include "binding/lifetime/handle.h"

namespace verbs::core {

MemoryWindow::~MemoryWindow() {
  context().environment().memory_windows.erase(id_);
  dispose();
}

int MemoryWindow::destroy() { return ibv_dealloc_mw(mw_); }

int MemoryWindow::destroyed(int) {
  mw_ = nullptr;
  regions_.clear();
  context().environment().memory_windows.erase(id_);
  return 0;
}

void MemoryWindow::bind(const std::shared_ptr<MemoryRegion>& region) {
  std::erase_if(regions_, [&](const auto& earlier) { return earlier == region || !earlier->open(); });
  regions_.push_back(region);
  become_newest();
}

namespace {

// allocMw(pd, type): { handle, id, rkey } | -errno
Napi::Value alloc_mw(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto pd = unwrap<ProtectionDomain>(info, 0);
  errno = 0;
  ibv_mw* mw = ibv_alloc_mw(pd->pd(), static_cast<ibv_mw_type>(info[1].As<Napi::Number>().Int32Value()));
  if (mw == nullptr) return failure(env, creation_error());
  const auto window = std::make_shared<MemoryWindow>(pd, mw);
  Napi::Object result = Napi::Object::New(env);
  result.Set("id", window->id());
  result.Set("rkey", mw->rkey);
  result.Set("handle", wrap_object(env, window));
  return result;
}

// mwRkey(mw): its rkey now; a bind changes it.
Napi::Value mw_rkey(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), unwrap<MemoryWindow>(info, 0)->mw()->rkey);
}

}  // namespace

void MemoryWindow::init(Napi::Object exports) {
  export_function<alloc_mw>(exports, "allocMw");
  export_function<mw_rkey>(exports, "mwRkey");
}

}  // namespace verbs::core
