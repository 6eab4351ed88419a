#include "model/flow/spec_flow.h"

#include "model/flow/flow.h"
#include "model/flow/specs.h"

namespace verbs::mlx5::model {

namespace {

constexpr std::uint32_t kKnownFlags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP | IBV_FLOW_ATTR_FLAGS_EGRESS;

int check(const Context& context, const ibv_flow_attr& attr) {
  if (attr.comp_mask != 0 || (attr.flags & ~kKnownFlags) != 0) return EINVAL;
  ibv_device_attr device{};
  if (const int error = context.base.query_device(context.ibv, &device)) return error;
  if (attr.port < 1 || attr.port > device.phys_port_cnt) return EINVAL;
  // A frame matches one rule only, so there is no sniffing. Transmit rules need mlx5dv_create_flow().
  if (attr.flags != 0 || attr.type == IBV_FLOW_ATTR_SNIFFER) return EOPNOTSUPP;
  const bool defaults = attr.type == IBV_FLOW_ATTR_ALL_DEFAULT || attr.type == IBV_FLOW_ATTR_MC_DEFAULT;
  if (attr.type != IBV_FLOW_ATTR_NORMAL && !defaults) return EINVAL;
  return defaults && attr.num_of_specs != 0 ? EINVAL : 0;
}

}  // namespace

ibv_flow* create_spec_flow(ibv_qp* ibv, ibv_flow_attr* attr) {
  const ModelLock guard(model_mutex());
  const RawQp* qp = find_qp(ibv);
  if (!qp || !attr) return null_with<ibv_flow>(EINVAL);
  Context& context = *qp->owner;
  if (const int error = check(context, *attr)) return null_with<ibv_flow>(error);
  auto matcher = std::make_unique<FlowMatcher>();
  matcher->owner = &context;
  matcher->priority = attr->type == IBV_FLOW_ATTR_NORMAL ? attr->priority : kPriorities - 1;
  auto request = std::make_unique<FlowRequest>(context);
  std::array<std::uint8_t, steering::kMatchSize> value{};
  bool drops = false;
  if (const int error = read_specs(*attr, matcher->mask, value, *request, &drops)) return null_with<ibv_flow>(error);
  if (attr->type == IBV_FLOW_ATTR_MC_DEFAULT)
    matcher->mask[steering::header::kDmac] = value[steering::header::kDmac] = 1;
  matcher->given = matcher->mask;
  if (!drops) request->add_qp(ibv);
  Flow* flow = create_flow(*matcher, value, std::move(request));
  if (flow) flow->own_matcher = std::move(matcher);
  return flow;
}

}  // namespace verbs::mlx5::model
