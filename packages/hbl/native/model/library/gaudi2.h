// The ordinary verbs that a gaudi2's library does not implement.
#pragma once

#include "model/device/context.h"

namespace verbs::hbl::model {

// Makes those verbs of the context fail with EOPNOTSUPP.
void remove_gaudi2_verbs(Context& context, verbs_soft_verbs& control);

}  // namespace verbs::hbl::model
