// ibv_query_device(_ex), _port, _gid, _pkey and the GID table.
#pragma once

#include <cstddef>
#include <cstdint>

#include "binding/device/context.h"
#include "provider/exchange.h"
#include "provider/napi_setup.h"

namespace verbs::core {

// Where ibv_port_attr has active_speed_ex, since release 49.
inline constexpr std::size_t kActiveSpeedEx = 52;

// 0 or an errno.
int query_port(const Context& context, std::uint8_t port, provider::Filled<ibv_port_attr>* attr);

void init_query(Napi::Object exports);

}  // namespace verbs::core
