// Flow actions: packet reformat and modify header.
#pragma once

#include <memory>

#include "model/device/device.h"
#include "model/device/objects.h"
#include "steering/actions/modify_header.h"
#include "steering/actions/reformat.h"

namespace verbs::mlx5::model {

struct FlowAction : ibv_flow_action, Counted {
  FlowAction(Context& its_owner, mlx5dv_flow_table_type its_table)
      : ibv_flow_action{.context = its_owner.ibv}, owner(&its_owner), table(its_table) {}
  ~FlowAction();

  Context* const owner;
  const mlx5dv_flow_table_type table;
  // One of these.
  std::shared_ptr<const steering::Reformat> reformat;
  std::shared_ptr<const steering::ModifyHeader> modify;
};

FlowAction* find_flow_action(const ibv_flow_action* ibv);
int destroy_flow_action(ibv_flow_action* ibv);
void forget_flow_actions(Context& context);

// Creates the engine's reformat from a reformat action's data: nullptr and an errno value in `error` if it is invalid.
std::shared_ptr<const steering::Reformat> make_reformat(const Device& device, unsigned type, const void* data,
                                                        std::size_t size, int* error);

}  // namespace verbs::mlx5::model
