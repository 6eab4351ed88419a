// Opening a place, for the calls that open files and folders.
#pragma once

#include <sys/types.h>

#include "system/place.h"

namespace verbs::soft::system {

// As openat() of a place that is ours.
int open_place(const Place& place, int flags);

}  // namespace verbs::soft::system
