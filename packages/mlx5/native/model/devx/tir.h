// TIRs: CREATE_TIR and QUERY_TIR, of the direct type with an inline receive queue.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "model/device/raw_qp.h"
#include "model/devx/object.h"

namespace verbs::mlx5::model {

// A receive destination: the receive queue of a RAW_PACKET queue pair.
class DevxTir final : public DevxObject {
 public:
  static constexpr std::size_t kContextSize = 240;

  static DevxStatus create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                           std::unique_ptr<DevxObject>* object);
  DevxTir(Context& context, std::uint32_t id, RawQp& qp);

  RawQp& qp() const { return qp_; }

  std::uint16_t query_opcode() const override;
  bool is_named_in(std::span<const std::uint8_t> in) const override;
  DevxStatus query(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) override;

 private:
  RawQp& qp_;
  Use used_qp_;
  std::array<std::uint8_t, kContextSize> attributes_{};
};

}  // namespace verbs::mlx5::model
