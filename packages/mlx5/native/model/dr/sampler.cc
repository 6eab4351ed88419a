// The sampler action of direct rules.
#include "steering/actions/sampler.h"

#include "model/dr/action.h"

namespace verbs::mlx5::model {

namespace {

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
