#include "model/base/last_error.h"
#include "model/nic/faults.h"
#include "verbs_doca_control.h"

extern "C" int verbs_doca_set_faults(const char* plan) { return verbs::doca_comm::model::Faults::get().set(plan); }
extern "C" const char* verbs_doca_last_error(void) { return verbs::doca_comm::model::last_error().c_str(); }
