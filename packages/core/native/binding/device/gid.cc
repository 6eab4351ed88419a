#include "binding/device/gid.h"

#include <arpa/inet.h>

#include <cstring>
#include <string>

#include "binding/lifetime/handle.h"

namespace verbs::core {
namespace {

std::uint32_t number_of(const Napi::Object& object, const char* name) {
  return object.Get(name).As<Napi::Number>().Uint32Value();
}

// parseGid(text): Uint8Array of 16 bytes, or undefined if it is no IPv6 address.
Napi::Value parse_gid(const Napi::CallbackInfo& info) {
  ibv_gid gid{};
  if (inet_pton(AF_INET6, info[0].As<Napi::String>().Utf8Value().c_str(), gid.raw) != 1) return info.Env().Undefined();
  return write_gid(info.Env(), gid);
}

// formatGid(bytes: Uint8Array): the shortest IPv6 spelling.
Napi::Value format_gid(const Napi::CallbackInfo& info) {
  const ibv_gid gid = read_gid(info[0]);
  char text[INET6_ADDRSTRLEN];
  inet_ntop(AF_INET6, gid.raw, text, sizeof text);
  return Napi::String::New(info.Env(), text);
}

}  // namespace

ibv_gid read_gid(Napi::Value value) {
  void* data = nullptr;
  std::size_t length = 0;
  napi_typedarray_type type = napi_int8_array;
  if (napi_get_typedarray_info(value.Env(), value, &type, &length, &data, nullptr, nullptr) != napi_ok ||
      type != napi_uint8_array || length != sizeof(ibv_gid)) {
    throw Napi::TypeError::New(value.Env(), "a GID is a Uint8Array of 16 bytes");
  }
  ibv_gid gid;
  std::memcpy(gid.raw, data, sizeof gid.raw);
  return gid;
}

Napi::Value write_gid(Napi::Env env, const ibv_gid& gid) {
  Napi::Uint8Array bytes = Napi::Uint8Array::New(env, sizeof gid.raw);
  std::memcpy(bytes.Data(), gid.raw, sizeof gid.raw);
  return bytes;
}

ibv_ah_attr read_ah_attr(Napi::Object object) {
  ibv_ah_attr attr{};
  attr.dlid = static_cast<std::uint16_t>(number_of(object, "dlid"));
  attr.sl = static_cast<std::uint8_t>(number_of(object, "sl"));
  attr.src_path_bits = static_cast<std::uint8_t>(number_of(object, "srcPathBits"));
  attr.static_rate = static_cast<std::uint8_t>(number_of(object, "staticRate"));
  attr.is_global = object.Get("isGlobal").As<Napi::Boolean>().Value() ? 1 : 0;
  attr.port_num = static_cast<std::uint8_t>(number_of(object, "portNum"));
  const Napi::Value grh = object.Get("grh");
  if (grh.IsObject()) {
    const auto route = grh.As<Napi::Object>();
    attr.grh.dgid = read_gid(route.Get("dgid"));
    attr.grh.flow_label = number_of(route, "flowLabel");
    attr.grh.sgid_index = static_cast<std::uint8_t>(number_of(route, "sgidIndex"));
    attr.grh.hop_limit = static_cast<std::uint8_t>(number_of(route, "hopLimit"));
    attr.grh.traffic_class = static_cast<std::uint8_t>(number_of(route, "trafficClass"));
  }
  return attr;
}

Napi::Object write_ah_attr(Napi::Env env, const ibv_ah_attr& attr) {
  Napi::Object grh = Napi::Object::New(env);
  grh.Set("dgid", write_gid(env, attr.grh.dgid));
  grh.Set("flowLabel", attr.grh.flow_label);
  grh.Set("sgidIndex", static_cast<std::uint32_t>(attr.grh.sgid_index));
  grh.Set("hopLimit", static_cast<std::uint32_t>(attr.grh.hop_limit));
  grh.Set("trafficClass", static_cast<std::uint32_t>(attr.grh.traffic_class));
  Napi::Object object = Napi::Object::New(env);
  object.Set("dlid", static_cast<std::uint32_t>(attr.dlid));
  object.Set("sl", static_cast<std::uint32_t>(attr.sl));
  object.Set("srcPathBits", static_cast<std::uint32_t>(attr.src_path_bits));
  object.Set("staticRate", static_cast<std::uint32_t>(attr.static_rate));
  object.Set("isGlobal", attr.is_global != 0);
  object.Set("portNum", static_cast<std::uint32_t>(attr.port_num));
  object.Set("grh", grh);
  return object;
}

void init_gid(Napi::Object exports) {
  export_function<parse_gid>(exports, "parseGid");
  export_function<format_gid>(exports, "formatGid");
}

}  // namespace verbs::core
