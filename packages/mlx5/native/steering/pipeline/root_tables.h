// The root tables of one type: one for each priority, created at first use, each with the next one as its miss table.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "steering/pipeline/flow_table.h"

namespace verbs::mlx5::steering {

class RootTables {
 public:
  // The priority of flows that select a multicast destination, after all others.
  static constexpr std::uint32_t kMulticastPriority = 32;

  std::shared_ptr<FlowTable> table(std::uint32_t priority);
  // The first table for a frame; nullptr without tables.
  FlowTable* first() const { return tables_.empty() ? nullptr : tables_.begin()->second.get(); }
  const std::map<std::uint32_t, std::shared_ptr<FlowTable>>& tables() const { return tables_; }

 private:
  std::map<std::uint32_t, std::shared_ptr<FlowTable>> tables_;
};

}  // namespace verbs::mlx5::steering
