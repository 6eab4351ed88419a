// Hostile packets: every header field is chosen by the input, mostly near what the queue pair waits for.
#pragma once

#include "fuzz/world.h"

namespace verbs::soft::fuzz {

// A packet made for one of the queue pairs.
void deliver_made(World& world, Input& input);
// A frame that the NIC itself sent, turned round and changed a little: an echo, or an answer to it.
void deliver_echo(World& world, Input& input);
// Bytes as they are.
void deliver_raw(World& world, Input& input);

}  // namespace verbs::soft::fuzz
