// The functions of verbs_soft.h for JavaScript, one to one. They return errno values; TypeScript makes errors of them.
#ifndef NAPI_VERSION
#define NAPI_VERSION 9
#endif
#define NODE_ADDON_API_DISABLE_DEPRECATED
#define NODE_ADDON_API_REQUIRE_BASIC_FINALIZERS
#include <napi.h>

#include <string>

#include "../include/verbs_soft.h"

namespace {

std::string text_argument(const Napi::CallbackInfo& info, std::size_t index) {
  if (!info[index].IsString()) throw Napi::TypeError::New(info.Env(), "expected a string");
  return info[index].As<Napi::String>();
}

std::uint64_t u64_argument(const Napi::CallbackInfo& info, std::size_t index) {
  bool lossless = false;
  if (!info[index].IsBigInt()) throw Napi::TypeError::New(info.Env(), "expected a bigint");
  const std::uint64_t value = info[index].As<Napi::BigInt>().Uint64Value(&lossless);
  if (!lossless) throw Napi::RangeError::New(info.Env(), "expected an unsigned number of 64 bits");
  return value;
}

Napi::Value result(const Napi::CallbackInfo& info, int error) { return Napi::Number::New(info.Env(), error); }

Napi::Value configure(const Napi::CallbackInfo& info) {
  if (info[0].IsNull()) return result(info, verbs_soft_configure(nullptr));
  return result(info, verbs_soft_configure(text_argument(info, 0).c_str()));
}

Napi::Value add_devices(const Napi::CallbackInfo& info) {
  return result(info, verbs_soft_add_devices(text_argument(info, 0).c_str()));
}

Napi::Value last_error(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), verbs_soft_last_error());
}

Napi::Value device_names(const Napi::CallbackInfo& info) {
  Napi::Array names = Napi::Array::New(info.Env());
  for (unsigned int i = 0; const char* name = verbs_soft_device_name(i); ++i) names[i] = name;
  return names;
}

Napi::Value stats(const Napi::CallbackInfo& info) {
  Napi::Object counters = Napi::Object::New(info.Env());
  const auto counter = [](void* data, const char* name, std::uint64_t value) {
    auto& object = *static_cast<Napi::Object*>(data);
    object.Set(name, Napi::BigInt::New(object.Env(), value));
  };
  const int error = verbs_soft_stats(text_argument(info, 0).c_str(), counter, &counters);
  if (error != 0) return result(info, error);
  return counters;
}

Napi::Value reasons(const Napi::CallbackInfo& info) {
  Napi::Array events = Napi::Array::New(info.Env());
  const auto add = [](void* data, const char* text) {
    auto& array = *static_cast<Napi::Array*>(data);
    array[array.Length()] = text;
  };
  const int error = verbs_soft_reasons(text_argument(info, 0).c_str(), add, &events);
  if (error != 0) return result(info, error);
  return events;
}

Napi::Value processes(const Napi::CallbackInfo& info) {
  Napi::Array reports = Napi::Array::New(info.Env());
  const auto add = [](void* data, int pid, const char* text) {
    auto& array = *static_cast<Napi::Array*>(data);
    Napi::Object process = Napi::Object::New(array.Env());
    process.Set("pid", pid);
    process.Set("report", text);
    array[array.Length()] = process;
  };
  const int error = verbs_soft_processes(add, &reports);
  if (error != 0) return result(info, error);
  return reports;
}

Napi::Value capture_start(const Napi::CallbackInfo& info) {
  return result(info,
                verbs_soft_capture_start(text_argument(info, 0).c_str(), text_argument(info, 1).c_str(),
                                         u64_argument(info, 2), static_cast<std::uint32_t>(u64_argument(info, 3))));
}

Napi::Value capture_stop(const Napi::CallbackInfo& info) {
  return result(info, verbs_soft_capture_stop(text_argument(info, 0).c_str()));
}

Napi::Value set_faults(const Napi::CallbackInfo& info) {
  return result(info, verbs_soft_set_faults(text_argument(info, 0).c_str(), text_argument(info, 1).c_str()));
}

Napi::Value get_faults(const Napi::CallbackInfo& info) {
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
  const int error = verbs_soft_get_faults(text_argument(info, 0).c_str(), &seed, add, &rules);
  if (error != 0) return result(info, error);
  Napi::Object plan = Napi::Object::New(info.Env());
  plan.Set("seed", Napi::BigInt::New(info.Env(), seed));
  plan.Set("rules", rules);
  return plan;
}

unsigned int unsigned_argument(const Napi::CallbackInfo& info, std::size_t index) {
  return static_cast<unsigned int>(u64_argument(info, index));
}

Napi::Value set_link(const Napi::CallbackInfo& info) {
  return result(info,
                verbs_soft_set_link(text_argument(info, 0).c_str(), unsigned_argument(info, 1), info[2].ToBoolean()));
}

Napi::Value set_mtu(const Napi::CallbackInfo& info) {
  return result(
      info, verbs_soft_set_mtu(text_argument(info, 0).c_str(), unsigned_argument(info, 1), unsigned_argument(info, 2)));
}

Napi::Value add_gid(const Napi::CallbackInfo& info) {
  unsigned int index = 0;
  const int error = verbs_soft_add_gid(text_argument(info, 0).c_str(), unsigned_argument(info, 1),
                                       text_argument(info, 2).c_str(), &index);
  if (error != 0) return result(info, error);
  Napi::Object added = Napi::Object::New(info.Env());
  added.Set("index", index);
  return added;
}

Napi::Value remove_gid(const Napi::CallbackInfo& info) {
  return result(info, verbs_soft_remove_gid(text_argument(info, 0).c_str(), unsigned_argument(info, 1),
                                            text_argument(info, 2).c_str()));
}

Napi::Value fail(const Napi::CallbackInfo& info) {
  return result(info, verbs_soft_fail(text_argument(info, 0).c_str()));
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  exports.Set("configure", Napi::Function::New<configure>(env, "configure"));
  exports.Set("addDevices", Napi::Function::New<add_devices>(env, "addDevices"));
  exports.Set("lastError", Napi::Function::New<last_error>(env, "lastError"));
  exports.Set("deviceNames", Napi::Function::New<device_names>(env, "deviceNames"));
  exports.Set("stats", Napi::Function::New<stats>(env, "stats"));
  exports.Set("reasons", Napi::Function::New<reasons>(env, "reasons"));
  exports.Set("processes", Napi::Function::New<processes>(env, "processes"));
  exports.Set("captureStart", Napi::Function::New<capture_start>(env, "captureStart"));
  exports.Set("captureStop", Napi::Function::New<capture_stop>(env, "captureStop"));
  exports.Set("setFaults", Napi::Function::New<set_faults>(env, "setFaults"));
  exports.Set("getFaults", Napi::Function::New<get_faults>(env, "getFaults"));
  exports.Set("setLink", Napi::Function::New<set_link>(env, "setLink"));
  exports.Set("setMtu", Napi::Function::New<set_mtu>(env, "setMtu"));
  exports.Set("addGid", Napi::Function::New<add_gid>(env, "addGid"));
  exports.Set("removeGid", Napi::Function::New<remove_gid>(env, "removeGid"));
  exports.Set("fail", Napi::Function::New<fail>(env, "fail"));
  return exports;
}

}  // namespace

NODE_API_MODULE(verbs_soft, init)
