// Modify header: a list of set, add and copy operations on header fields and registers, executed in order.
//
// The entries are the PRM's, 8 bytes big-endian each:
//   first word   type 4 (set 1, add 2, copy 3), field 12, reserved 3, offset 5, reserved 3, length 5 (0 means 32)
//   second word  set, add: the value; copy: reserved 4, field 12, reserved 3, offset 5, reserved 8
// In a copy the first word describes the source, the second the destination. Offsets count from the field's least
// significant bit. An add applies to the whole field, modulo its width.
//
// Entries whose source or destination field the frame does not have are skipped. The IPv4, TCP, UDP, ICMPv6 and GRE
// checksums are updated; a UDP checksum of 0 stays 0.
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
  kSize,   // zero, or not a multiple of 8 bytes
  kType,   // neither set, add nor copy
  kField,  // unknown
  kBits,   // offset and length exceed the field
};

class ModifyHeader {
 public:
  // On failure nullptr, `problem` and the index of the entry. The caller checks how many entries the device accepts.
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
  bool moves_headers_ = false;  // the frame has to be parsed again
};

}  // namespace verbs::mlx5::steering
