// ibv_dm: memory of the device.
#pragma once

#include "binding/device/context.h"
#include "binding/lifetime/vendor_make.h"

namespace verbs::core {

class DeviceMemory final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_DM;

  DeviceMemory(std::shared_ptr<Context> context, ibv_dm* dm, std::uint64_t length, bool imported)
      : Object(kKind, {context}), context_(std::move(context)), dm_(dm), length_(length), imported_(imported) {}
  ~DeviceMemory() override { dispose(); }

  void* pointer() const override { return dm_; }
  const Context& context() const override { return *context_; }
  ibv_dm* dm() const { return dm_; }
  std::uint64_t length() const { return length_; }

  // allocDm(), by a vendor's function.
  static Napi::Value alloc(Napi::Env env, const napi_value* arguments, const VendorMake& vendor);

  static void init(Napi::Object exports);

 private:
  int destroy() override;
  int destroyed(int error) override;

  std::shared_ptr<Context> context_;
  ibv_dm* dm_;
  std::uint64_t length_;
  bool imported_;
};

}  // namespace verbs::core
