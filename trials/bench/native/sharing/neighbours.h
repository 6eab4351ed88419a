// Processes beside the one that is measured: they have the same device open, at the same address, and do nothing.
#pragma once

#include <stdint.h>

// Before this process opens the device. They end with it.
void neighbours_start(uint32_t count);
