// ibv_rwq_ind_table: which receive work queue a hash chooses.
#pragma once

#include "binding/device/owned.h"

namespace verbs::core {

using IndirectionTable = Owned<ibv_rwq_ind_table, VERBS_CORE_RWQ_IND_TABLE>;

void init_indirection_table(Napi::Object exports);

}  // namespace verbs::core
