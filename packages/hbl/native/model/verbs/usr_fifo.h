// User FIFOs of a context.
#pragma once

#include "model/device/context.h"

namespace verbs::hbl::model {

void close_fifos(Context& context);

}  // namespace verbs::hbl::model
