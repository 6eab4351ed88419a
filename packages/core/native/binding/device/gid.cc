#include "binding/device/gid.h"

#include <arpa/inet.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "binding/device/library.h"
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

namespace {

// The function of the library, for a call. A vendor's build of libibverbs may lack these.
template <typename Function>
Function present(const Napi::CallbackInfo& info, Function Functions::* member) {
  const Function function = unwrap_library(info.Env(), info[0])->functions().*member;
  if (function == nullptr) throw Napi::TypeError::New(info.Env(), "this library has no such function");
  return function;
}

// (library, value): string
template <typename Value, const char* (*Functions::*Call)(Value)>
Napi::Value text_of(const Napi::CallbackInfo& info) {
  const char* text = present(info, Call)(static_cast<Value>(info[1].As<Napi::Number>().Int32Value()));
  return Napi::String::New(info.Env(), text == nullptr ? "unknown" : text);
}

// (library, value): number
template <typename From, typename To, To (*Functions::*Call)(From)>
Napi::Value convert(const Napi::CallbackInfo& info) {
  const To to = present(info, Call)(static_cast<From>(info[1].As<Napi::Number>().Int32Value()));
  return Napi::Number::New(info.Env(), static_cast<int>(to));
}

// wrOpcodeText(library, opcode): string, or undefined from a library before release 50
Napi::Value wr_opcode_text(const Napi::CallbackInfo& info) {
  const auto text_of = unwrap_library(info.Env(), info[0])->functions().wr_opcode_str;
  if (text_of == nullptr) return info.Env().Undefined();
  const char* text = text_of(static_cast<ibv_wr_opcode>(info[1].As<Napi::Number>().Int32Value()));
  return Napi::String::New(info.Env(), text == nullptr ? "unknown" : text);
}

// forkInit(library): 0 | -errno
Napi::Value fork_init(const Napi::CallbackInfo& info) {
  return failure(info.Env(), present(info, &Functions::fork_init)());
}

// isForkInitialized(library): an ibv_fork_status | -errno
Napi::Value is_fork_initialized(const Napi::CallbackInfo& info) {
  const auto status = unwrap_library(info.Env(), info[0])->functions().is_fork_initialized;
  return status == nullptr ? failure(info.Env(), EOPNOTSUPP)
                           : Napi::Value(Napi::Number::New(info.Env(), static_cast<int>(status())));
}

}  // namespace

void init_text(Napi::Object exports) {
  export_function<text_of<ibv_wc_status, &Functions::wc_status_str>>(exports, "wcStatusText");
  export_function<text_of<ibv_event_type, &Functions::event_type_str>>(exports, "eventTypeText");
  export_function<text_of<ibv_node_type, &Functions::node_type_str>>(exports, "nodeTypeText");
  export_function<text_of<ibv_port_state, &Functions::port_state_str>>(exports, "portStateText");
  export_function<wr_opcode_text>(exports, "wrOpcodeText");
  export_function<convert<ibv_rate, int, &Functions::rate_to_mult>>(exports, "rateToMult");
  export_function<convert<int, ibv_rate, &Functions::mult_to_rate>>(exports, "multToRate");
  export_function<convert<ibv_rate, int, &Functions::rate_to_mbps>>(exports, "rateToMbps");
  export_function<convert<int, ibv_rate, &Functions::mbps_to_rate>>(exports, "mbpsToRate");
  export_function<fork_init>(exports, "forkInit");
  export_function<is_fork_initialized>(exports, "isForkInitialized");
}

}  // namespace verbs::core
