#include "binding/device/gid.h"

#include <arpa/inet.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "binding/device/library.h"
#include "binding/lifetime/handle.h"

namespace verbs::core {
namespace {

// parseGid(text): Uint8Array of 16 bytes, or undefined if it is no IPv6 address.
Napi::Value parse_gid(const Napi::CallbackInfo& info) {
  ibv_gid gid{};
  if (inet_pton(AF_INET6, string_of(info[0]).c_str(), gid.raw) != 1) return info.Env().Undefined();
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
  const Bytes bytes = value.IsTypedArray() ? bytes_of(value) : Bytes{};
  if (bytes.size != sizeof(ibv_gid)) throw wrong_type(value.Env(), "a GID is a Uint8Array of 16 bytes");
  ibv_gid gid;
  std::memcpy(gid.raw, bytes.data, sizeof gid.raw);
  return gid;
}

Napi::Value write_gid(Napi::Env env, const ibv_gid& gid) { return copied(env, gid.raw, sizeof gid.raw); }

ibv_ah_attr read_ah_attr(const Fields& fields) {
  ibv_ah_attr attr{};
  attr.dlid = fields.number<std::uint16_t>("dlid");
  attr.sl = fields.number<std::uint8_t>("sl");
  attr.src_path_bits = fields.number<std::uint8_t>("srcPathBits");
  attr.static_rate = fields.number<std::uint8_t>("staticRate");
  attr.is_global = fields.flag("isGlobal") ? 1 : 0;
  attr.port_num = fields.number<std::uint8_t>("portNum");
  if (const Napi::Value grh = fields["grh"]; grh.IsObject()) {
    const Fields route(grh);
    attr.grh.dgid = read_gid(route["dgid"]);
    attr.grh.flow_label = route.u32("flowLabel");
    attr.grh.sgid_index = route.number<std::uint8_t>("sgidIndex");
    attr.grh.hop_limit = route.number<std::uint8_t>("hopLimit");
    attr.grh.traffic_class = route.number<std::uint8_t>("trafficClass");
  }
  return attr;
}

Napi::Object write_ah_attr(Napi::Env env, const ibv_ah_attr& attr) {
  Napi::Object grh = Napi::Object::New(env);
  grh.Set("dgid", write_gid(env, attr.grh.dgid));
  grh.Set("flowLabel", attr.grh.flow_label);
  grh.Set("sgidIndex", attr.grh.sgid_index);
  grh.Set("hopLimit", attr.grh.hop_limit);
  grh.Set("trafficClass", attr.grh.traffic_class);
  Napi::Object object = Napi::Object::New(env);
  object.Set("dlid", attr.dlid);
  object.Set("sl", attr.sl);
  object.Set("srcPathBits", attr.src_path_bits);
  object.Set("staticRate", attr.static_rate);
  object.Set("isGlobal", attr.is_global != 0);
  object.Set("portNum", attr.port_num);
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
  if (function == nullptr) throw wrong_type(info.Env(), "this library has no such function");
  return function;
}

// (library, value): string
template <typename Value, const char* (*Functions::*Call)(Value)>
Napi::Value text_of(const Napi::CallbackInfo& info) {
  const char* text = present(info, Call)(number_of<Value>(info[1]));
  return Napi::String::New(info.Env(), text == nullptr ? "unknown" : text);
}

// (library, value): number
template <typename From, typename To, To (*Functions::*Call)(From)>
Napi::Value convert(const Napi::CallbackInfo& info) {
  const To to = present(info, Call)(number_of<From>(info[1]));
  return Napi::Number::New(info.Env(), static_cast<int>(to));
}

// wrOpcodeText(library, opcode): string, or undefined from a library before release 50
Napi::Value wr_opcode_text(const Napi::CallbackInfo& info) {
  const auto text_of = unwrap_library(info.Env(), info[0])->functions().wr_opcode_str;
  if (text_of == nullptr) return info.Env().Undefined();
  const char* text = text_of(number_of<ibv_wr_opcode>(info[1]));
  return Napi::String::New(info.Env(), text == nullptr ? "unknown" : text);
}

// forkInit(library): 0 | -errno
Napi::Value fork_init(const Napi::CallbackInfo& info) {
  return failure(info.Env(), present(info, &Functions::fork_init)());
}

// isForkInitialized(library): an ibv_fork_status | -errno
Napi::Value is_fork_initialized(const Napi::CallbackInfo& info) {
  const auto status = unwrap_library(info.Env(), info[0])->functions().is_fork_initialized;
  return status == nullptr ? failure(info.Env(), EOPNOTSUPP) : number(info.Env(), static_cast<int>(status()));
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
