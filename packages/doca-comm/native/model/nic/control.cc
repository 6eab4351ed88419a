#include "model/nic/faults.h"
#include "verbs_doca_control.h"

extern "C" int verbs_doca_set_faults(const char* plan) { return verbs::doca_comm::model::Faults::get().set(plan); }
