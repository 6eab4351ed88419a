// One option of the configuration text: its key, its value and the allowed values.
#pragma once

#include <optional>
#include <string>

#include "host/configuration/configuration.h"

namespace verbs::soft::host {

// Returns an empty string, or an error text with the key, the value and the allowed values.
std::string apply_option(const std::string& key, const std::string& value, DeviceConfig* config);

// "256" is IBV_MTU_256, …; nullopt if the text is no MTU.
std::optional<ibv_mtu> parse_mtu(const std::string& bytes);

}  // namespace verbs::soft::host
