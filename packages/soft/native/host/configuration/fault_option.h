// The options of the configuration text that make up a fault plan:
//
//   drop=0.02,delay=10,seed=7                           the plan's own rule, for all frames
//   fault=drop:opcode=rc_send_only:nth=3                a further rule; its parts are separated by ':'
//   fault=drop=0.1:duplicate=0.1:direction=both:qpn=17
#pragma once

#include <optional>
#include <string>

#include "link/faults/fault_plan.h"

namespace verbs::soft::host {

// nullopt if `key` is no option of a fault plan; else an empty string, or an error text with the allowed values.
std::optional<std::string> apply_fault_option(const std::string& key, const std::string& value, link::FaultPlan* plan);
// "drop, duplicate, …", for messages.
std::string fault_option_keys();

}  // namespace verbs::soft::host
