// Objects that one thread makes, uses and destroys, on contexts and domains that all threads share.
#pragma once

#include "test/threads/link.h"

namespace verbs::soft::test::threads {

// One random round: some objects from creation to destruction, or a query.
void use_own_objects(Player& player, const Side& side, const Side& other);

}  // namespace verbs::soft::test::threads
