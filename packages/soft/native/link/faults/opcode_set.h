// Sets of BTH opcodes, named as people write them.
#pragma once

#include <bitset>
#include <string_view>

namespace verbs::soft::link {

using OpcodeSet = std::bitset<256>;

// Adds the opcodes that `name` stands for: one by its full name ("RC SEND Only"), or all whose names begin with these
// words ("RC RDMA READ response", "UD"). Upper and lower case are the same, as are blanks, '_' and '-', and the word
// RDMA may be left out. False, and nothing added, if there are none.
bool add_opcodes(std::string_view name, OpcodeSet* set);

}  // namespace verbs::soft::link
