// Modify header on a FrameModel: the effect of each entry on the named fields.
#pragma once

#include <optional>

#include "test/support/steering/header_model.h"

namespace verbs::mlx5::steering::test {

using RegisterModel = std::array<std::uint32_t, 10>;  // C 0 to 7, A, B

struct ModifyEntry {
  enum Type { kSet = 1, kAdd = 2, kCopy = 3 };
  Type type = kSet;
  std::uint16_t field = 0;  // the source of a copy
  std::uint8_t offset = 0;
  std::uint8_t length = 0;  // 1 to 32
  std::uint32_t value = 0;
  std::uint16_t to_field = 0;  // of a copy
  std::uint8_t to_offset = 0;

  Bytes bytes() const;  // the PRM's 8
};

// The numbers of all outer fields and registers, without the ethertype.
const std::vector<std::uint16_t>& modify_fields();
int width_of(std::uint16_t field);
// nullopt if the frame does not have the field.
std::optional<std::uint32_t> get(const FrameModel& frame, const RegisterModel& registers, std::uint16_t field);
void apply(FrameModel& frame, RegisterModel& registers, const ModifyEntry& entry);

}  // namespace verbs::mlx5::steering::test
