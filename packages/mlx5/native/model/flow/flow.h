// Flows of the verbs.
#pragma once

#include "model/flow/entry.h"

namespace verbs::mlx5 {

struct Flow : ibv_flow {
  Flow(FlowMatcher& matcher, FlowEntry& its_entry, FlowRequest& its_request);

  Context* const owner;
  FlowEntry* const entry;
  FlowRequest* const request;
  std::unique_ptr<FlowMatcher> own_matcher;  // of a flow that was made without one
  Use used_matcher;
};

// The kernel's checks, then the tables: nullptr and errno.
Flow* create_flow(FlowMatcher& matcher, std::span<const std::uint8_t> value, std::unique_ptr<FlowRequest> request);
int destroy_flow(ibv_flow* face);
void forget_flows(Context& context);

}  // namespace verbs::mlx5
