// Modify header: a list of set, add and copy on header fields and registers, in their order.
//
// The entries are the PRM's, 8 bytes big-endian each:
//   first word   type 4 (set 1, add 2, copy 3), field 12, reserved 3, offset 5, reserved 3, length 5 (0 means 32)
//   second word  set, add: the value; copy: reserved 4, field 12, reserved 3, offset 5, reserved 8
// In a copy the first word is about the source. An offset counts from the field's least significant bit. An add is to
// the whole field, modulo its width.
//
// A field that the frame does not have is passed over, and a copy from one as well. IPv4, TCP, UDP and ICMPv6
// checksums, and a GRE header's, follow the change; a UDP checksum of 0 stays 0.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "steering/actions/modify_field.h"
#include "steering/packet/packet.h"

namespace verbs::mlx5::steering {

enum class ModifyProblem : std::uint8_t {
  kNone,
  kSize,   // not a multiple of 8 bytes, or nothing
  kType,   // neither set, add nor copy
  kField,  // unknown
  kBits,   // offset and length go beyond the field
};

class ModifyHeader {
 public:
  // nullptr, `problem` and the index of the entry if there is no such action. How many entries a device takes is for
  // the caller to know.
  static std::shared_ptr<const ModifyHeader> create(std::span<const std::uint8_t> entries, ModifyProblem* problem,
                                                    std::size_t* entry = nullptr);

  std::size_t size() const { return operations_.size(); }
  void apply(Packet& packet) const;

 private:
  enum class Type : std::uint8_t { kSet = 1, kAdd = 2, kCopy = 3 };
  struct Operation {
    Type type;
    std::uint8_t length;  // bits
    std::uint8_t offset;
    std::uint8_t source_offset;  // copy
    const ModifyField* field;
    const ModifyField* source;  // copy
    std::uint32_t value;
  };

  ModifyProblem append(std::uint32_t first, std::uint32_t second);

  std::vector<Operation> operations_;
  bool moves_headers_ = false;  // the frame is to be parsed again
};

}  // namespace verbs::mlx5::steering
