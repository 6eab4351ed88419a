#include "model/flow/flow.h"

#include <cstring>

#include "model/abi/functions.h"
#include "model/device/device.h"
#include "model/device/objects.h"
#include "model/flow/entry.h"
#include "model/flow/request.h"

namespace verbs::mlx5::model {
namespace {

// mlx5dv_create_flow, and ibv_destroy_flow for all flows of the model.

using Flows = Live<Flow, ibv_flow>;
Flows& flows() { return live<Flow, ibv_flow>(); }

// The actions of newer headers also have the offset of a counter in its bulk.
constexpr std::size_t kPlainAction = 16, kLongAction = 24;
static_assert(sizeof(mlx5dv_flow_action_attr) == kPlainAction);
constexpr unsigned kCountersDevxWithOffset = 8;

struct LongAction {
  mlx5dv_flow_action_attr plain;
  std::uint32_t offset;
};
static_assert(sizeof(LongAction) == kLongAction);

int add_action(const LongAction& action, FlowRequest& request) {
  const mlx5dv_flow_action_attr& attr = action.plain;
  switch (static_cast<unsigned>(attr.type)) {
    case MLX5DV_FLOW_ACTION_DEST_IBV_QP:
      return request.add_qp(attr.qp);
    case MLX5DV_FLOW_ACTION_DROP:
      return request.add_drop();
    case MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION:
      return request.add_flow_action(attr.action);
    case MLX5DV_FLOW_ACTION_TAG:
      return request.add_tag(attr.tag_value);
    case MLX5DV_FLOW_ACTION_DEST_DEVX:
      return request.add_devx_destination(attr.obj);
    case MLX5DV_FLOW_ACTION_COUNTERS_DEVX:
      return request.add_counter(attr.obj, 0);
    case MLX5DV_FLOW_ACTION_DEFAULT_MISS:
      return request.add_default_miss();
    case kCountersDevxWithOffset:
      return request.add_counter(attr.obj, action.offset);
    default:
      return EOPNOTSUPP;  // also IBV_COUNTER
  }
}

ibv_flow* create(mlx5dv_flow_matcher* handle, const mlx5dv_flow_match_parameters* value, std::size_t count,
                 const void* actions, std::size_t stride) {
  const ModelLock guard(model_mutex());
  FlowMatcher* matcher = find_flow_matcher(handle);
  if (!matcher || !value || (count != 0 && !actions)) return null_with<ibv_flow>(EINVAL);
  auto request = std::make_unique<FlowRequest>(*matcher->owner);
  for (std::size_t i = 0; i < count; ++i) {
    LongAction action{};
    std::memcpy(static_cast<void*>(&action), static_cast<const char*>(actions) + i * stride, stride);
    // The short structure belongs to headers without this type.
    if (stride == kPlainAction && action.plain.type == kCountersDevxWithOffset) return null_with<ibv_flow>(EOPNOTSUPP);
    if (const int error = add_action(action, *request)) return null_with<ibv_flow>(error);
  }
  return create_flow(*matcher, match_bytes(*value), std::move(request));
}

}  // namespace

Flow::Flow(FlowMatcher& matcher)
    : ibv_flow{.comp_mask = 0, .context = matcher.owner->ibv, .handle = 0},
      owner(matcher.owner),
      used_matcher(matcher),
      watch(*matcher.owner) {}

int RdmaWatch::begin() {
  if (context_.device->rdma_flows == 0) {
    if (const int error = soft()->watch_frames(context_.ibv, 1)) return error;
  }
  ++context_.device->rdma_flows;
  begun_ = true;
  return 0;
}

RdmaWatch::~RdmaWatch() {
  if (begun_ && --context_.device->rdma_flows == 0) soft()->watch_frames(context_.ibv, 0);
}

Flow* create_flow(FlowMatcher& matcher, std::span<const std::uint8_t> value, std::unique_ptr<FlowRequest> request) {
  if (value.empty()) return null_with<Flow>(EINVAL);
  if (request->exceeds_kernel()) return null_with<Flow>(EINVAL);
  if (matcher.owner->device->capabilities.cap_net_raw != 0 && !has_net_raw()) return null_with<Flow>(EPERM);
  if (const int error = request->check(matcher.direction)) return null_with<Flow>(error);
  Making flow(flows(), std::make_unique<Flow>(matcher));
  if (matcher.direction == Direction::kRdmaReceive || matcher.direction == Direction::kRdmaTransmit) {
    if (const int error = flow->watch.begin()) return null_with<Flow>(error);
  }
  flow->entry = FlowEntry::insert(matcher, value, std::move(request), &flow->request);
  if (!flow->entry) return nullptr;
  flow->handle = matcher.owner->device->next_id++;
  return flow.keep();
}

int destroy_flow(ibv_flow* ibv) {
  const ModelLock guard(model_mutex());
  Flow* flow = flows().find(ibv);
  if (!flow) return EINVAL;
  if (const int error = flow->entry->remove(*flow->owner, flow->request)) return error;
  flows().remove(flow);
  return 0;
}

void forget_flow(Flow& flow) {
  flow.entry->forget(*flow.owner, flow.request);
  flows().remove(&flow);
}

void forget_flows(Context& context) {
  flows().remove_if([&](const Flow& flow) {
    if (flow.owner != &context) return false;
    flow.entry->forget(context, flow.request);
    return true;
  });
}

ibv_flow* mlx5dv_create_flow(mlx5dv_flow_matcher* matcher, mlx5dv_flow_match_parameters* value, std::size_t count,
                             mlx5dv_flow_action_attr actions[]) {
  return create(matcher, value, count, actions, kPlainAction);
}

// Newer headers define mlx5dv_create_flow() as a call of this function, with the size of their structure.
ibv_flow* __mlx5dv_create_flow(mlx5dv_flow_matcher* matcher, mlx5dv_flow_match_parameters* value, std::size_t count,
                               mlx5dv_flow_action_attr actions[], std::size_t size) {
  if (size != kPlainAction && size != kLongAction) return null_with<ibv_flow>(EINVAL);
  return create(matcher, value, count, actions, size);
}

namespace {

// mlx5dv_create_steering_anchor and mlx5dv_destroy_steering_anchor.

struct Anchor : mlx5dv_steering_anchor {
  Anchor(std::uint32_t table, Context& its_owner) : mlx5dv_steering_anchor{.id = table}, owner(&its_owner) {}
  Context* const owner;
};

Live<Anchor, mlx5dv_steering_anchor>& anchors() { return live<Anchor, mlx5dv_steering_anchor>(); }

}  // namespace

void forget_steering_anchors(Context& context) {
  anchors().remove_if([&](const Anchor& anchor) { return anchor.owner == &context; });
}

mlx5dv_steering_anchor* mlx5dv_create_steering_anchor(ibv_context* verbs, mlx5dv_steering_anchor_attr* attr) {
  if (!verbs || !attr) return null_with<mlx5dv_steering_anchor>(EINVAL);
  const ModelLock guard(model_mutex());
  Context* context = context_of(verbs);
  if (!context) return null_with<mlx5dv_steering_anchor>(EOPNOTSUPP);
  if (attr->comp_mask != 0) return null_with<mlx5dv_steering_anchor>(EOPNOTSUPP);
  Device& device = *context->device;
  if (device.capabilities.cap_net_raw != 0 && !has_net_raw()) return null_with<mlx5dv_steering_anchor>(EPERM);
  if (attr->ft_type > MLX5DV_FLOW_TABLE_TYPE_RDMA_TX) return null_with<mlx5dv_steering_anchor>(EINVAL);
  const bool receive = attr->ft_type == MLX5DV_FLOW_TABLE_TYPE_NIC_RX;
  if (!receive && attr->ft_type != MLX5DV_FLOW_TABLE_TYPE_NIC_TX) return null_with<mlx5dv_steering_anchor>(EOPNOTSUPP);
  if (attr->priority >= kPriorities) return null_with<mlx5dv_steering_anchor>(ENOMEM);
  const DeviceLock lock(*context);
  if (lock.error() != 0) return null_with<mlx5dv_steering_anchor>(lock.error());
  const auto table = device.root(receive ? Direction::kReceive : Direction::kTransmit).table(attr->priority);
  return anchors().add(std::make_unique<Anchor>(device.id_of(*table), *context));
}

int mlx5dv_destroy_steering_anchor(mlx5dv_steering_anchor* handle) {
  const ModelLock guard(model_mutex());
  Anchor* anchor = anchors().find(handle);
  if (!anchor) return EINVAL;
  anchors().remove(anchor);
  return 0;
}

namespace {

constexpr std::uint32_t kKnownFlags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP | IBV_FLOW_ATTR_FLAGS_EGRESS;

int check_attr(const Context& context, const ibv_flow_attr& attr) {
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
  if (const int error = check_attr(context, *attr)) return null_with<ibv_flow>(error);
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
