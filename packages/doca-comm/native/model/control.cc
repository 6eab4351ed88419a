#include "control.h"

#include "nic/faults.h"

extern "C" int verbs_doca_set_faults(const char* plan) { return verbs::doca::Faults::get().set(plan); }
