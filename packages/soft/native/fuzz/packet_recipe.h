// Hostile packets: every header field is chosen by the input, mostly near the values that the queue pair expects.
#pragma once

#include "fuzz/world.h"

namespace verbs::soft::fuzz {

// A packet for one of the queue pairs.
void deliver_made(World& world, Input& input);
// A frame that the NIC itself sent, with its direction reversed and a few changes: an echo, or a response to it.
void deliver_echo(World& world, Input& input);
// Bytes as they are.
void deliver_raw(World& world, Input& input);

}  // namespace verbs::soft::fuzz
