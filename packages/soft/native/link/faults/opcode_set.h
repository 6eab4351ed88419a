// Sets of BTH opcodes, by their names in IBTA.
#pragma once

#include <bitset>
#include <string_view>

namespace verbs::soft::link {

using OpcodeSet = std::bitset<256>;

// Adds the opcodes of `name`: one opcode by its full name ("RC SEND Only"), or all opcodes whose names begin with these
// words ("RC RDMA READ response", "UD"). Case does not matter; blanks, '_' and '-' are equal; the word RDMA may be left
// out. False if no opcode has such a name; then nothing is added.
bool add_opcodes(std::string_view name, OpcodeSet* set);

}  // namespace verbs::soft::link
