#include "steering/pipeline/root_tables.h"

namespace verbs::mlx5::steering {

std::shared_ptr<FlowTable> RootTables::table(std::uint32_t priority) {
  const auto [at, is_new] = tables_.try_emplace(priority);
  if (!is_new) return at->second;
  at->second = std::make_shared<FlowTable>();
  if (const auto next = std::next(at); next != tables_.end()) at->second->set_miss_table(next->second);
  if (at != tables_.begin()) std::prev(at)->second->set_miss_table(at->second);
  return at->second;
}

}  // namespace verbs::mlx5::steering
