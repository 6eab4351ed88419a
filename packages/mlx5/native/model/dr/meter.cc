// The meter actions of direct rules, and the ASO actions, which the model does not have.
#include "steering/actions/meter.h"

#include "model/dr/action.h"
#include "steering/actions/sampler.h"

namespace verbs::mlx5::model {
namespace {

constexpr std::size_t kMeterParameters = 32;
constexpr std::uint8_t kLastRegister = 5;
// Bits of `select`: whether the meter is active, and its four rates and bursts.
constexpr std::uint64_t kSelectActive = 1, kSelectParameters = 0x1e;

steering::MeterConfig config_of(const mlx5dv_dr_flow_meter_attr& attr) {
  steering::MeterConfig config = steering::MeterConfig::decode(
      {static_cast<const std::uint8_t*>(attr.flow_meter_parameter), attr.flow_meter_parameter_sz});
  config.valid = attr.active != 0;
  return config;
}

bool has_parameters(const mlx5dv_dr_flow_meter_attr& attr) {
  return attr.flow_meter_parameter && attr.flow_meter_parameter_sz != 0 &&
         attr.flow_meter_parameter_sz <= kMeterParameters;
}

}  // namespace

mlx5dv_dr_action* mlx5dv_dr_action_create_flow_meter(mlx5dv_dr_flow_meter_attr* attr) {
  const ModelLock guard(model_mutex());
  DrTable* next = attr ? find_dr_table(attr->next_table) : nullptr;
  if (!next) return null_with<mlx5dv_dr_action>(EINVAL);
  if (next->is_root()) return null_with<mlx5dv_dr_action>(EOPNOTSUPP);
  if (!has_parameters(*attr) || attr->reg_c_index > kLastRegister) return null_with<mlx5dv_dr_action>(EINVAL);
  const Context& context = *next->domain.owner;
  auto action = action_to(DrKind::kMeter, *next);
  auto meter = std::make_shared<steering::Meter>(config_of(*attr));
  action->steps.emplace_back(steering::MeterAction{meter, attr->reg_c_index});
  action->steps.emplace_back(steering::Destination{steering::ToTable{next->table}});
  {
    const DeviceLock lock(context);
    if (lock.error() != 0) return null_with<mlx5dv_dr_action>(lock.error());
    ++context.device->clocked;
    action->meter = std::move(meter);
  }
  return add_dr_action(std::move(action));
}

int mlx5dv_dr_action_modify_flow_meter(mlx5dv_dr_action* handle, mlx5dv_dr_flow_meter_attr* attr, __be64 select) {
  const ModelLock guard(model_mutex());
  const DrAction* action = find_dr_action(handle);
  const std::uint64_t selected = be64toh(select);
  if (!action || !action->meter || !attr || (selected & ~(kSelectActive | kSelectParameters)) != 0) return EINVAL;
  steering::MeterConfig config = action->meter->config();
  if ((selected & kSelectParameters) != 0) {
    if (!has_parameters(*attr)) return EINVAL;
    const steering::MeterConfig wanted = config_of(*attr);
    // In the order of their bits.
    if ((selected >> 1 & 1) != 0) config.committed_burst = wanted.committed_burst;
    if ((selected >> 2 & 1) != 0) config.committed_rate = wanted.committed_rate;
    if ((selected >> 3 & 1) != 0) config.excess_burst = wanted.excess_burst;
    if ((selected >> 4 & 1) != 0) config.excess_rate = wanted.excess_rate;
  }
  if ((selected & kSelectActive) != 0) config.valid = attr->active != 0;
  const DeviceLock lock(*action->owner);
  if (lock.error() != 0) return lock.error();
  action->meter->configure(config);
  return 0;
}

// ASO objects (first hit, meters of a bulk, connection tracking) cannot be created, so no action can use one.
mlx5dv_dr_action* mlx5dv_dr_action_create_aso(mlx5dv_dr_domain*, mlx5dv_devx_obj*, std::uint32_t, std::uint32_t,
                                              std::uint8_t) {
  return null_with<mlx5dv_dr_action>(EOPNOTSUPP);
}

int mlx5dv_dr_action_modify_aso(mlx5dv_dr_action*, std::uint32_t, std::uint32_t, std::uint8_t) { return EINVAL; }

int mlx5dv_dr_aso_other_domain_link(mlx5dv_devx_obj*, mlx5dv_dr_domain*, mlx5dv_dr_domain*, std::uint32_t,
                                    std::uint8_t) {
  return EOPNOTSUPP;
}

int mlx5dv_dr_aso_other_domain_unlink(mlx5dv_devx_obj*, mlx5dv_dr_domain*) { return EOPNOTSUPP; }

namespace {

// The sampler action of direct rules.

// Adds what happens to a sample: it can be counted, tagged and received.
int add_sample_action(const DrDomain& domain, const mlx5dv_dr_action* handle, DrAction& sampler,
                      std::vector<steering::Action>& steps) {
  DrAction* action = find_dr_action(handle);
  if (!action || (action->owner && action->owner != domain.owner)) return EINVAL;
  if (action->kind != DrKind::kQp && action->kind != DrKind::kCounter && action->kind != DrKind::kTag) {
    return EOPNOTSUPP;
  }
  steps.push_back(action->steps.front());
  sampler.used.emplace_back(*action);
  return 0;
}

}  // namespace

mlx5dv_dr_action* mlx5dv_dr_action_create_flow_sampler(mlx5dv_dr_flow_sampler_attr* attr) {
  const ModelLock guard(model_mutex());
  DrTable* next = attr ? find_dr_table(attr->default_next_table) : nullptr;
  if (!next || attr->sample_ratio == 0 || !attr->sample_actions || attr->num_sample_actions == 0) {
    return null_with<mlx5dv_dr_action>(EINVAL);
  }
  if (next->is_root()) return null_with<mlx5dv_dr_action>(EINVAL);
  DrDomain& domain = next->domain;
  if (domain.type != MLX5DV_DR_DOMAIN_TYPE_NIC_RX) return null_with<mlx5dv_dr_action>(EOPNOTSUPP);
  auto action = action_to(DrKind::kSampler, *next);
  std::vector<steering::Action> steps;
  for (std::uint32_t i = 0; i < attr->num_sample_actions; ++i) {
    if (const int error = add_sample_action(domain, attr->sample_actions[i], *action, steps)) {
      return null_with<mlx5dv_dr_action>(error);
    }
  }
  auto sampler = std::make_shared<steering::Sampler>(attr->sample_ratio, std::move(steps), next->table);
  action->steps.emplace_back(steering::Destination{steering::ToSampler{std::move(sampler)}});
  return add_dr_action(std::move(action));
}

}  // namespace verbs::mlx5::model
