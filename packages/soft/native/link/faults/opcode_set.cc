#include "link/faults/opcode_set.h"

#include <cctype>
#include <string>

#include "wire/opcode.h"

namespace verbs::soft::link {
namespace {

// "rc_send_only_"
std::string words_of(std::string_view name) {
  std::string words;
  for (const char c : name) {
    const bool separator = c == ' ' || c == '-' || c == '_';
    words += separator ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  words += '_';
  const std::size_t rdma = words.find("_rdma_");
  return rdma == std::string::npos ? words : words.erase(rdma, 5);
}

}  // namespace

bool add_opcodes(std::string_view name, OpcodeSet* set) {
  if (name.empty()) return false;
  const std::string wanted = words_of(name);
  OpcodeSet family;
  for (unsigned opcode = 0; opcode < family.size(); ++opcode) {
    const wire::OpcodeInfo* info = wire::opcode_info(static_cast<std::uint8_t>(opcode));
    if (info == nullptr) continue;
    const std::string words = words_of(info->name);
    if (words == wanted) {
      set->set(opcode);
      return true;
    }
    if (words.starts_with(wanted)) family.set(opcode);
  }
  *set |= family;
  return family.any();
}

}  // namespace verbs::soft::link
