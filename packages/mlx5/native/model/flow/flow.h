// Flows, of mlx5dv_create_flow() and ibv_create_flow().
#pragma once

#include "model/device/device.h"
#include "model/flow/entry.h"

namespace verbs::mlx5::model {

// While flows of RoCE packets exist, the NIC shows them to the model.
class RdmaWatch {
 public:
  explicit RdmaWatch(Context& context) : context_(context) {}
  ~RdmaWatch();
  RdmaWatch(const RdmaWatch&) = delete;
  RdmaWatch& operator=(const RdmaWatch&) = delete;
  int begin();

 private:
  Context& context_;
  bool begun_ = false;
};

struct Flow : ibv_flow {
  explicit Flow(FlowMatcher& matcher);

  Context* const owner;
  FlowEntry* entry = nullptr;
  FlowRequest* request = nullptr;
  std::unique_ptr<FlowMatcher> own_matcher;  // of a flow that was created without a matcher
  Use used_matcher;
  RdmaWatch watch;
};

// Applies the kernel's checks, then changes the tables. nullptr and errno on failure.
Flow* create_flow(FlowMatcher& matcher, std::span<const std::uint8_t> value, std::unique_ptr<FlowRequest> request);
int destroy_flow(ibv_flow* ibv);
// Ends a flow with its context, or with another one that its rule uses: FlowEntry::forget().
void forget_flow(Flow& flow);
void forget_flows(Context& context);

// Steering anchors: the numbers of root tables, for programs that direct frames there by their own devx commands.

void forget_steering_anchors(Context& context);

// ibv_create_flow: flows whose match is a list of specifications.

ibv_flow* create_spec_flow(ibv_qp* qp, ibv_flow_attr* attr);

}  // namespace verbs::mlx5::model
