// The root tables of one type: one for each priority, made on first use, each with the next as its miss.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "steering/pipeline/flow_table.h"

namespace verbs::mlx5::steering {

class RootTables {
 public:
  // Flows that select a multicast destination are asked last.
  static constexpr std::uint32_t kMulticastPriority = 32;

  std::shared_ptr<FlowTable> table(std::uint32_t priority);
  // Where a frame begins; nullptr while there is no table.
  FlowTable* first() const { return tables_.empty() ? nullptr : tables_.begin()->second.get(); }
  const std::map<std::uint32_t, std::shared_ptr<FlowTable>>& tables() const { return tables_; }

 private:
  std::map<std::uint32_t, std::shared_ptr<FlowTable>> tables_;
};

}  // namespace verbs::mlx5::steering
