// The functions of verbs_soft.h for JavaScript, one to one. Their results are errno values; what to make of them is
// decided in TypeScript.
#ifndef NAPI_VERSION
#define NAPI_VERSION 9
#endif
#define NODE_ADDON_API_DISABLE_DEPRECATED
#define NODE_ADDON_API_REQUIRE_BASIC_FINALIZERS
#include <napi.h>

#include <string>

#include "../include/verbs_soft.h"

namespace {

std::string Text(const Napi::CallbackInfo& info, std::size_t index) {
  if (!info[index].IsString()) throw Napi::TypeError::New(info.Env(), "expected a string");
  return info[index].As<Napi::String>();
}

std::uint64_t Number(const Napi::CallbackInfo& info, std::size_t index) {
  bool lossless = false;
  if (!info[index].IsBigInt()) throw Napi::TypeError::New(info.Env(), "expected a bigint");
  const std::uint64_t value = info[index].As<Napi::BigInt>().Uint64Value(&lossless);
  if (!lossless) throw Napi::RangeError::New(info.Env(), "expected an unsigned number of 64 bits");
  return value;
}

Napi::Value Result(const Napi::CallbackInfo& info, int error) { return Napi::Number::New(info.Env(), error); }

Napi::Value Configure(const Napi::CallbackInfo& info) {
  if (info[0].IsNull()) return Result(info, verbs_soft_configure(nullptr));
  return Result(info, verbs_soft_configure(Text(info, 0).c_str()));
}

Napi::Value AddDevices(const Napi::CallbackInfo& info) {
  return Result(info, verbs_soft_add_devices(Text(info, 0).c_str()));
}

Napi::Value LastError(const Napi::CallbackInfo& info) { return Napi::String::New(info.Env(), verbs_soft_last_error()); }

Napi::Value DeviceNames(const Napi::CallbackInfo& info) {
  Napi::Array names = Napi::Array::New(info.Env());
  for (unsigned int i = 0; const char* name = verbs_soft_device_name(i); ++i) names[i] = name;
  return names;
}

Napi::Value Stats(const Napi::CallbackInfo& info) {
  Napi::Object counters = Napi::Object::New(info.Env());
  const auto counter = [](void* data, const char* name, std::uint64_t value) {
    auto& object = *static_cast<Napi::Object*>(data);
    object.Set(name, Napi::BigInt::New(object.Env(), value));
  };
  const int error = verbs_soft_stats(Text(info, 0).c_str(), counter, &counters);
  if (error != 0) return Result(info, error);
  return counters;
}

Napi::Value CaptureStart(const Napi::CallbackInfo& info) {
  return Result(info, verbs_soft_capture_start(Text(info, 0).c_str(), Text(info, 1).c_str(), Number(info, 2),
                                               static_cast<std::uint32_t>(Number(info, 3))));
}

Napi::Value CaptureStop(const Napi::CallbackInfo& info) {
  return Result(info, verbs_soft_capture_stop(Text(info, 0).c_str()));
}

Napi::Value SetFaults(const Napi::CallbackInfo& info) {
  return Result(info, verbs_soft_set_faults(Text(info, 0).c_str(), Text(info, 1).c_str()));
}

Napi::Value GetFaults(const Napi::CallbackInfo& info) {
  Napi::Array rules = Napi::Array::New(info.Env());
  const auto add = [](void* data, const char* text, std::uint64_t matched, std::uint64_t hits) {
    auto& array = *static_cast<Napi::Array*>(data);
    Napi::Object rule = Napi::Object::New(array.Env());
    rule.Set("text", text);
    rule.Set("matched", Napi::BigInt::New(array.Env(), matched));
    rule.Set("hits", Napi::BigInt::New(array.Env(), hits));
    array[array.Length()] = rule;
  };
  std::uint64_t seed = 0;
  const int error = verbs_soft_get_faults(Text(info, 0).c_str(), &seed, add, &rules);
  if (error != 0) return Result(info, error);
  Napi::Object plan = Napi::Object::New(info.Env());
  plan.Set("seed", Napi::BigInt::New(info.Env(), seed));
  plan.Set("rules", rules);
  return plan;
}

unsigned int Small(const Napi::CallbackInfo& info, std::size_t index) {
  return static_cast<unsigned int>(Number(info, index));
}

Napi::Value SetLink(const Napi::CallbackInfo& info) {
  return Result(info, verbs_soft_set_link(Text(info, 0).c_str(), Small(info, 1), info[2].ToBoolean()));
}

Napi::Value SetMtu(const Napi::CallbackInfo& info) {
  return Result(info, verbs_soft_set_mtu(Text(info, 0).c_str(), Small(info, 1), Small(info, 2)));
}

Napi::Value AddGid(const Napi::CallbackInfo& info) {
  unsigned int index = 0;
  const int error = verbs_soft_add_gid(Text(info, 0).c_str(), Small(info, 1), Text(info, 2).c_str(), &index);
  if (error != 0) return Result(info, error);
  Napi::Object added = Napi::Object::New(info.Env());
  added.Set("index", index);
  return added;
}

Napi::Value RemoveGid(const Napi::CallbackInfo& info) {
  return Result(info, verbs_soft_remove_gid(Text(info, 0).c_str(), Small(info, 1), Text(info, 2).c_str()));
}

Napi::Value Fail(const Napi::CallbackInfo& info) { return Result(info, verbs_soft_fail(Text(info, 0).c_str())); }

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("configure", Napi::Function::New<Configure>(env, "configure"));
  exports.Set("addDevices", Napi::Function::New<AddDevices>(env, "addDevices"));
  exports.Set("lastError", Napi::Function::New<LastError>(env, "lastError"));
  exports.Set("deviceNames", Napi::Function::New<DeviceNames>(env, "deviceNames"));
  exports.Set("stats", Napi::Function::New<Stats>(env, "stats"));
  exports.Set("captureStart", Napi::Function::New<CaptureStart>(env, "captureStart"));
  exports.Set("captureStop", Napi::Function::New<CaptureStop>(env, "captureStop"));
  exports.Set("setFaults", Napi::Function::New<SetFaults>(env, "setFaults"));
  exports.Set("getFaults", Napi::Function::New<GetFaults>(env, "getFaults"));
  exports.Set("setLink", Napi::Function::New<SetLink>(env, "setLink"));
  exports.Set("setMtu", Napi::Function::New<SetMtu>(env, "setMtu"));
  exports.Set("addGid", Napi::Function::New<AddGid>(env, "addGid"));
  exports.Set("removeGid", Napi::Function::New<RemoveGid>(env, "removeGid"));
  exports.Set("fail", Napi::Function::New<Fail>(env, "fail"));
  return exports;
}

}  // namespace

NODE_API_MODULE(verbs_soft, Init)
