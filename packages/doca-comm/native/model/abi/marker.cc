#include "verbs_soft_model.h"

VERBS_SOFT_MARKER("doca")
