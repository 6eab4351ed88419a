// One option of the configuration text: its key, how its value is read and what is allowed.
#pragma once

#include <optional>
#include <string>

#include "host/configuration/configuration.h"

namespace verbs::soft::host {

// An empty string, or what is wrong with the key or the value and what is allowed.
std::string apply_option(const std::string& key, const std::string& value, DeviceConfig* config);

// 256 is IBV_MTU_256; nullopt for what is no MTU.
std::optional<ibv_mtu> parse_mtu(const std::string& bytes);

}  // namespace verbs::soft::host
