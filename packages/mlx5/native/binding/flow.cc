#include "binding/flow.h"

#include <cstring>

#include "binding/objects.h"

namespace verbs::mlx5::binding {
namespace {

// Matchers, flows and steering anchors.

int destroy_matcher(const Library& library, mlx5dv_flow_matcher* matcher) {
  return status(library.mlx5dv_destroy_flow_matcher, matcher);
}
int destroy_flow(const Library&, ibv_flow* flow) { return std::abs(ibv_destroy_flow(flow)); }

// createFlowMatcher(library, context, { type, flags, priority, matchCriteriaEnable, matchMask, compMask, ftType,
// ibPort }): handle | -errno
Napi::Value create_flow_matcher(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  const Fields given(info[2]);
  const auto field = [&](const char* name) { return given.u32(name); };
  MatchParameters mask(given.bytes("matchMask"));
  mlx5dv_flow_matcher_attr attr{};
  attr.type = static_cast<ibv_flow_attr_type>(field("type"));
  attr.flags = field("flags");
  attr.priority = static_cast<std::uint16_t>(field("priority"));
  attr.match_criteria_enable = static_cast<std::uint8_t>(field("matchCriteriaEnable"));
  attr.match_mask = mask.get();
  attr.comp_mask = given.u64("compMask");
  attr.ft_type = static_cast<mlx5dv_flow_table_type>(field("ftType"));
  // In rdma-core 44 these four bytes are padding.
  static_assert(sizeof attr == 40);
  const std::uint32_t ib_port = field("ibPort");
  std::memcpy(reinterpret_cast<char*>(&attr) + 36, &ib_port, sizeof ib_port);
  return context.attach(env, created(context.library().mlx5dv_create_flow_matcher, context.get(), &attr),
                        destroy_matcher);
}

// Fills in one action: { type, object?, tagValue?, offset? }. 0 or an errno.
int read_action(const Fields& given, const ibv_context* context, Held* held, newer::FlowActionAttr* action) {
  action->type = given.u32("type");
  action->offset = given.u32("offset");
  const Napi::Value object = given["object"];
  const auto use = [&](auto* found, const ibv_context* its_context) {
    action->object = found;
    return its_context == context ? 0 : EINVAL;
  };
  const auto use_object = [&](auto* found) { return use(found->get(), found->context()); };
  switch (action->type) {
    case MLX5DV_FLOW_ACTION_DEST_IBV_QP: {
      auto* qp = held->verbs<ibv_qp>(object);
      return use(qp, qp->context);
    }
    case MLX5DV_FLOW_ACTION_IBV_COUNTER: {
      auto* counters = held->verbs<ibv_counters>(object);
      return use(counters, counters->context);
    }
    case MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION:
      return use_object(held->object<ibv_flow_action>(object));
    case MLX5DV_FLOW_ACTION_TAG: {
      const std::uint32_t tag = given.u32("tagValue");
      std::memcpy(&action->object, &tag, sizeof tag);
      return 0;
    }
    case MLX5DV_FLOW_ACTION_DEST_DEVX:
    case MLX5DV_FLOW_ACTION_COUNTERS_DEVX:
    case 8:  // with an offset: newer than rdma-core 44
      return use_object(held->object<mlx5dv_devx_obj>(object));
    default:
      return 0;
  }
}

// Only the newer function gets the length of an action. The plain one walks the shorter structure, or in a few releases
// the longer one.
ibv_flow* make_flow(const Library& library, mlx5dv_flow_matcher* matcher, mlx5dv_flow_match_parameters* value,
                    std::vector<newer::FlowActionAttr>& actions) {
  if (library.__mlx5dv_create_flow) {
    return created(library.__mlx5dv_create_flow, matcher, value, actions.size(), actions.data(), sizeof actions[0]);
  }
  if (library.flow_action_size == sizeof actions[0]) {
    return created(library.mlx5dv_create_flow, matcher, value, actions.size(),
                   reinterpret_cast<mlx5dv_flow_action_attr*>(actions.data()));
  }
  constexpr std::size_t kSize = offsetof(newer::FlowActionAttr, offset);
  // As long as the longer ones are: a library of another name may walk those, and then finds no more than its own
  // error.
  std::vector<std::byte> plain(actions.size() * sizeof actions[0]);
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (actions[i].type == 8) {
      errno = EOPNOTSUPP;
      return nullptr;
    }
    static_assert(offsetof(mlx5dv_flow_action_attr, qp) == offsetof(newer::FlowActionAttr, object));
    std::memcpy(&plain[i * kSize], &actions[i], kSize);
  }
  return created(library.mlx5dv_create_flow, matcher, value, actions.size(),
                 reinterpret_cast<mlx5dv_flow_action_attr*>(plain.data()));
}

// createFlow(matcher, value, actions: { type, object?, tagValue?, offset? }[]): handle | -errno
Napi::Value create_flow(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* matcher = held.object<mlx5dv_flow_matcher>(info, 0);
  MatchParameters value(bytes_of(info[1]));
  const Napi::Array list = list_of(info[2]);
  std::vector<newer::FlowActionAttr> actions(list.Length());
  for (std::uint32_t i = 0; i < actions.size(); ++i) {
    const int error = read_action(Fields(list.Get(i)), matcher->context(), &held, &actions[i]);
    if (error != 0) return failure(env, error);
  }
  ibv_flow* flow = make_flow(matcher->library(), matcher->get(), value.get(), actions);
  return attach(env, matcher->library(), matcher->context(), flow, destroy_flow, held.parents());
}

// createSteeringAnchor(library, context, { ftType, priority, compMask }): { handle, id } | -errno
Napi::Value create_steering_anchor(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  mlx5dv_steering_anchor_attr attr{};
  const Fields given(info[2]);
  attr.ft_type = given.number<mlx5dv_flow_table_type>("ftType");
  attr.priority = given.number<std::uint16_t>("priority");
  mlx5dv_steering_anchor* anchor = created(context.library().mlx5dv_create_steering_anchor, context.get(), &attr);
  if (!anchor) return failure(env, errno);
  const std::uint32_t id = anchor->id;
  const auto destroy = [](const Library& its_library, mlx5dv_steering_anchor* its_anchor) {
    return status(its_library.mlx5dv_destroy_steering_anchor, its_anchor);
  };
  return described(env, context.attach(env, anchor, destroy), {{"id", number(env, id)}});
}

}  // namespace

void init_flow(Napi::Object exports) {
  export_function<create_flow_matcher>(exports, "createFlowMatcher");
  export_function<create_flow>(exports, "createFlow");
  export_function<create_steering_anchor>(exports, "createSteeringAnchor");
}

namespace {

// The flow actions of the verbs: packet reformat and modify header.

int destroy_action(const Library&, ibv_flow_action* action) { return std::abs(ibv_destroy_flow_action(action)); }

// createFlowActionPacketReformat(library, context, data | undefined, reformatType, ftType): handle | -errno
Napi::Value create_flow_packet_reformat(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  const Bytes data = bytes_of(info[2]);
  // An empty array is a buffer of no bytes. To the library that differs from no buffer.
  char nothing = 0;
  void* buffer = info[2].IsUndefined() || data.data ? data.data : static_cast<void*>(&nothing);
  const auto type = number_of<mlx5dv_flow_action_packet_reformat_type>(info[3]);
  const auto table = number_of<mlx5dv_flow_table_type>(info[4]);
  ibv_flow_action* action = created(context.library().mlx5dv_create_flow_action_packet_reformat, context.get(),
                                    data.size, buffer, type, table);
  return context.attach(env, action, destroy_action);
}

// createFlowActionModifyHeader(library, context, actions: BigUint64Array in the device's byte order, ftType):
// handle | -errno
Napi::Value create_flow_modify_header(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  const Bytes actions = bytes_of(info[2]);
  const auto table = number_of<mlx5dv_flow_table_type>(info[3]);
  ibv_flow_action* action = created(context.library().mlx5dv_create_flow_action_modify_header, context.get(),
                                    actions.size, reinterpret_cast<std::uint64_t*>(actions.data), table);
  return context.attach(env, action, destroy_action);
}

}  // namespace

void init_flow_actions(Napi::Object exports) {
  export_function<create_flow_packet_reformat>(exports, "createFlowActionPacketReformat");
  export_function<create_flow_modify_header>(exports, "createFlowActionModifyHeader");
}

}  // namespace verbs::mlx5::binding
