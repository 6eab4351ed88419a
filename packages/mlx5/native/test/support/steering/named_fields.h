// Match fields by name: where the PRM has each, and what a frame says there.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "test/support/steering/header_model.h"

namespace verbs::mlx5::steering::test {

struct NamedField {
  std::string_view name;
  std::uint32_t bit;    // of its most significant bit in the match parameters
  std::uint32_t width;  // bits
  // As many bytes as hold the width, right-aligned; zeros if the frame has no such header.
  std::function<Bytes(const FrameModel&)> value;
};

// Those of a frame that is no tunnel.
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
