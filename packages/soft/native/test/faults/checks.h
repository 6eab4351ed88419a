// What must be true of a stream that has come to its end. Throw Wrong.
#pragma once

#include "test/faults/stream.h"

namespace verbs::soft::test::faults {

// Everything arrived once, in order and right; or the retries ran out, and everything before that point did.
void check_reliable(Stream& stream);
// Everything was sent. Each message that arrived is whole and right, in the order and as often as the link delivered
// it.
void check_unreliable(Stream& stream);

// No byte outside the memory of the messages has changed, at either end.
void check_borders(Stream& stream);

}  // namespace verbs::soft::test::faults
