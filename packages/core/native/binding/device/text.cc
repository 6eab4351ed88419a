#include "binding/device/text.h"

#include <cerrno>

#include "binding/device/library.h"
#include "binding/lifetime/handle.h"

namespace verbs::core {
namespace {

// (library, value): string
template <typename Value, const char* (*Functions::*Call)(Value)>
Napi::Value Text(const Napi::CallbackInfo& info) {
  const auto library = UnwrapLibrary(info.Env(), info[0]);
  const char* text = (library->functions().*Call)(static_cast<Value>(info[1].As<Napi::Number>().Int32Value()));
  return Napi::String::New(info.Env(), text == nullptr ? "unknown" : text);
}

// (library, value): number
template <typename From, typename To, To (*Functions::*Call)(From)>
Napi::Value Convert(const Napi::CallbackInfo& info) {
  const auto library = UnwrapLibrary(info.Env(), info[0]);
  const To to = (library->functions().*Call)(static_cast<From>(info[1].As<Napi::Number>().Int32Value()));
  return Napi::Number::New(info.Env(), static_cast<int>(to));
}

// forkInit(library): 0 | -errno
Napi::Value ForkInit(const Napi::CallbackInfo& info) {
  return Failure(info.Env(), UnwrapLibrary(info.Env(), info[0])->functions().fork_init());
}

// isForkInitialized(library): an ibv_fork_status | -errno
Napi::Value IsForkInitialized(const Napi::CallbackInfo& info) {
  const auto status = UnwrapLibrary(info.Env(), info[0])->functions().is_fork_initialized;
  return status == nullptr ? Failure(info.Env(), EOPNOTSUPP)
                           : Napi::Value(Napi::Number::New(info.Env(), static_cast<int>(status())));
}

}  // namespace

void InitText(Napi::Object exports) {
  Export<Text<ibv_wc_status, &Functions::wc_status_str>>(exports, "wcStatusText");
  Export<Text<ibv_event_type, &Functions::event_type_str>>(exports, "eventTypeText");
  Export<Text<ibv_node_type, &Functions::node_type_str>>(exports, "nodeTypeText");
  Export<Text<ibv_port_state, &Functions::port_state_str>>(exports, "portStateText");
  Export<Convert<ibv_rate, int, &Functions::rate_to_mult>>(exports, "rateToMult");
  Export<Convert<int, ibv_rate, &Functions::mult_to_rate>>(exports, "multToRate");
  Export<Convert<ibv_rate, int, &Functions::rate_to_mbps>>(exports, "rateToMbps");
  Export<Convert<int, ibv_rate, &Functions::mbps_to_rate>>(exports, "mbpsToRate");
  Export<ForkInit>(exports, "forkInit");
  Export<IsForkInitialized>(exports, "isForkInitialized");
}

}  // namespace verbs::core
