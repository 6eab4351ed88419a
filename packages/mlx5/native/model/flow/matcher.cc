// mlx5dv_create_flow_matcher and mlx5dv_destroy_flow_matcher, with the checks of the library and then of the kernel.
#include "model/flow/matcher.h"

#include <algorithm>

namespace verbs::mlx5::model {

namespace {

Live<FlowMatcher>& matchers() { return live<FlowMatcher>(); }

// Table types of newer libraries, which need an IB port.
constexpr unsigned kRdmaTransportRx = 5, kRdmaTransportTx = 6;

int check_library(const mlx5dv_flow_matcher_attr& attr) {
  if ((attr.comp_mask & ~std::uint64_t{MLX5DV_FLOW_MATCHER_MASK_FT_TYPE}) != 0) return EOPNOTSUPP;
  if (attr.type != IBV_FLOW_ATTR_NORMAL) return EOPNOTSUPP;
  const unsigned table = attr.ft_type;
  return table == kRdmaTransportRx || table == kRdmaTransportTx ? EINVAL : 0;
}

// Chooses the direction of the matcher's tables: 0 or errno.
int choose_tables(const mlx5dv_flow_matcher_attr& attr, Direction* direction) {
  const bool typed = (attr.comp_mask & MLX5DV_FLOW_MATCHER_MASK_FT_TYPE) != 0;
  if (typed && attr.flags != 0) return EINVAL;
  if ((attr.flags & ~std::uint32_t{IBV_FLOW_ATTR_FLAGS_EGRESS}) != 0) return EINVAL;
  if (!typed) {
    *direction = attr.flags != 0 ? Direction::kTransmit : Direction::kReceive;
    return 0;
  }
  switch (attr.ft_type) {
    case MLX5DV_FLOW_TABLE_TYPE_NIC_RX:
      *direction = Direction::kReceive;
      return 0;
    case MLX5DV_FLOW_TABLE_TYPE_NIC_TX:
      *direction = Direction::kTransmit;
      return 0;
    case MLX5DV_FLOW_TABLE_TYPE_RDMA_RX:
    case MLX5DV_FLOW_TABLE_TYPE_RDMA_TX:
      return EOPNOTSUPP;  // RoCE packets pass no tables in the model
    default:
      return EINVAL;  // also FDB: the model has no e-switch
  }
}

}  // namespace

FlowMatcher* find_flow_matcher(const mlx5dv_flow_matcher* handle) { return matchers().find(handle); }

void forget_flow_matchers(Context& context) {
  matchers().remove_if([&](const FlowMatcher& matcher) { return matcher.owner == &context; });
}

std::span<const std::uint8_t> match_bytes(const mlx5dv_flow_match_parameters& parameters) {
  if (parameters.match_sz > steering::kMatchSize) return {};
  return {reinterpret_cast<const std::uint8_t*>(parameters.match_buf), parameters.match_sz};
}

void filter_mask(std::span<const std::uint8_t> given, std::uint8_t criteria,
                 std::span<std::uint8_t, steering::kMatchSize> mask) {
  std::fill(mask.begin(), mask.end(), std::uint8_t{0});
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::size_t section = i / steering::kMatchSectionSize;
    if (section < 8 && (criteria >> section & 1) != 0) mask[i] = given[i];
  }
}

mlx5dv_flow_matcher* mlx5dv_create_flow_matcher(ibv_context* verbs, mlx5dv_flow_matcher_attr* attr) {
  if (!verbs || !attr || !attr->match_mask) return null_with<mlx5dv_flow_matcher>(EINVAL);
  Context* context = context_of(verbs);
  if (!context) return null_with<mlx5dv_flow_matcher>(EOPNOTSUPP);
  if (const int error = check_library(*attr)) return null_with<mlx5dv_flow_matcher>(error);
  const std::span<const std::uint8_t> given = match_bytes(*attr->match_mask);
  if (given.empty()) return null_with<mlx5dv_flow_matcher>(EINVAL);
  Direction direction{};
  if (const int error = choose_tables(*attr, &direction)) return null_with<mlx5dv_flow_matcher>(error);
  auto matcher = std::make_unique<FlowMatcher>();
  matcher->owner = context;
  matcher->direction = direction;
  matcher->priority = attr->priority;
  std::copy(given.begin(), given.end(), matcher->given.begin());
  filter_mask(given, attr->match_criteria_enable, matcher->mask);
  const ModelLock guard(model_mutex());
  return matchers().add(std::move(matcher));
}

int mlx5dv_destroy_flow_matcher(mlx5dv_flow_matcher* handle) {
  const ModelLock guard(model_mutex());
  FlowMatcher* matcher = matchers().find(handle);
  if (!matcher) return EINVAL;
  if (matcher->in_use()) return EBUSY;
  matchers().remove(matcher);
  return 0;
}

}  // namespace verbs::mlx5::model
