// Match fields by name: the place of each in the PRM, and its value in a frame.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "test/support/steering/header_model.h"

namespace verbs::mlx5::steering::test {

struct NamedField {
  std::string_view name;
  std::uint32_t bit;    // the field's most significant bit in the match parameters
  std::uint32_t width;  // bits
  // The value, right-aligned in whole bytes; zeros if the frame does not have the header.
  std::function<Bytes(const FrameModel&)> value;
};

// The fields of a frame without a tunnel.
const std::vector<NamedField>& named_fields();
const NamedField& named_field(std::string_view name);

// Match parameters, written bit by bit.
class MatchWriter {
 public:
  void put(std::uint32_t bit, std::uint32_t width, const Bytes& value);
  void put(std::string_view name, std::uint64_t value);
  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_ = Bytes(512);
};

}  // namespace verbs::mlx5::steering::test
