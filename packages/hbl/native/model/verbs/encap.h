// Encapsulations of a context.
#pragma once

#include <cstdint>

#include "model/device/context.h"

namespace verbs::hbl::model {

// The port's encapsulation with this number; nullptr if there is none.
Encap* find_encap(Context& context, std::uint32_t port_num, std::uint32_t number);
void close_encaps(Context& context);

}  // namespace verbs::hbl::model
