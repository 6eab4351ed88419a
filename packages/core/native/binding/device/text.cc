#include "binding/device/text.h"

#include <cerrno>

#include "binding/device/library.h"
#include "binding/lifetime/handle.h"

namespace verbs::core {
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
