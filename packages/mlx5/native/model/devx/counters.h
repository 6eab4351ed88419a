// Flow counters: ALLOC_FLOW_COUNTER and QUERY_FLOW_COUNTER.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/devx/object.h"
#include "steering/actions/counter.h"

namespace verbs::mlx5::model {

// One flow counter, or a bulk of them with consecutive numbers.
class DevxCounters final : public DevxObject {
 public:
  static DevxStatus create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                           std::unique_ptr<DevxObject>* object);
  DevxCounters(Context& context, std::uint32_t id, std::uint32_t count);
  ~DevxCounters() override;

  std::uint32_t count() const { return static_cast<std::uint32_t>(counters_->size()); }
  std::shared_ptr<steering::Counter> at(std::uint32_t offset) const { return {counters_, &(*counters_)[offset]}; }

  std::uint16_t query_opcode() const override;
  bool is_named_in(std::span<const std::uint8_t> in) const override;
  DevxStatus query(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) override;

 private:
  std::shared_ptr<std::vector<steering::Counter>> counters_;
};

}  // namespace verbs::mlx5::model
