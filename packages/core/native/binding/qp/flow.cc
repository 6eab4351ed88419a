#include "binding/qp/flow.h"

#include <cerrno>
#include <cstring>

#include "binding/lifetime/handle.h"
#include "binding/qp/queue_pair.h"

namespace verbs::core {
namespace {

// ibv_flow_attr with its specifications behind it.
class FlowBytes {
 public:
  FlowBytes() : bytes_(sizeof(ibv_flow_attr)) {}

  template <typename Spec>
  void append(const Spec& spec) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(&spec);
    bytes_.insert(bytes_.end(), from, from + sizeof spec);
    count_++;
  }

  // Filled in last, for `size` and `num_of_specs` are known then.
  ibv_flow_attr* finish(ibv_flow_attr attr) {
    attr.size = static_cast<std::uint16_t>(bytes_.size());
    attr.num_of_specs = count_;
    std::memcpy(bytes_.data(), &attr, sizeof attr);
    return reinterpret_cast<ibv_flow_attr*>(bytes_.data());
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::uint8_t count_ = 0;
};

template <typename T>
bool read_filter(const Napi::Value& value, T* filter) {
  const Bytes bytes = bytes_of(value);
  if (bytes.size != sizeof(T)) return false;
  std::memcpy(filter, bytes.data, sizeof(T));
  return true;
}

// A specification with a value and a mask, both as the bytes of the C structure.
template <typename Spec>
bool append_filter(FlowBytes& flow, std::uint32_t type, const Fields& given) {
  Spec spec{};
  spec.type = static_cast<ibv_flow_spec_type>(type);
  spec.size = sizeof spec;
  if (!read_filter(given["val"], &spec.val) || !read_filter(given["mask"], &spec.mask)) return false;
  flow.append(spec);
  return true;
}

bool append_spec(FlowBytes& flow, const Fields& given, std::vector<Taken<Counters>>& counters) {
  const std::uint32_t type = given.u32("type");
  switch (type & ~std::uint32_t{IBV_FLOW_SPEC_INNER}) {
    case IBV_FLOW_SPEC_ETH:
      return append_filter<ibv_flow_spec_eth>(flow, type, given);
    case IBV_FLOW_SPEC_IPV4:
      return append_filter<ibv_flow_spec_ipv4>(flow, type, given);
    case IBV_FLOW_SPEC_IPV4_EXT:
      return append_filter<ibv_flow_spec_ipv4_ext>(flow, type, given);
    case IBV_FLOW_SPEC_IPV6:
      return append_filter<ibv_flow_spec_ipv6>(flow, type, given);
    case IBV_FLOW_SPEC_ESP:
      return append_filter<ibv_flow_spec_esp>(flow, type, given);
    case IBV_FLOW_SPEC_TCP:
    case IBV_FLOW_SPEC_UDP:
      return append_filter<ibv_flow_spec_tcp_udp>(flow, type, given);
    case IBV_FLOW_SPEC_VXLAN_TUNNEL:
      return append_filter<ibv_flow_spec_tunnel>(flow, type, given);
    case IBV_FLOW_SPEC_GRE:
      return append_filter<ibv_flow_spec_gre>(flow, type, given);
    case IBV_FLOW_SPEC_MPLS:
      return append_filter<ibv_flow_spec_mpls>(flow, type, given);
    case IBV_FLOW_SPEC_ACTION_TAG:
      flow.append(
          ibv_flow_spec_action_tag{IBV_FLOW_SPEC_ACTION_TAG, sizeof(ibv_flow_spec_action_tag), given.u32("tagId")});
      return true;
    case IBV_FLOW_SPEC_ACTION_DROP:
      flow.append(ibv_flow_spec_action_drop{IBV_FLOW_SPEC_ACTION_DROP, sizeof(ibv_flow_spec_action_drop)});
      return true;
    case IBV_FLOW_SPEC_ACTION_COUNT: {
      const Napi::Value handle = given["counters"];
      counters.push_back(take<Counters>(handle.Env(), handle));
      flow.append(ibv_flow_spec_counter_action{IBV_FLOW_SPEC_ACTION_COUNT, sizeof(ibv_flow_spec_counter_action),
                                               counters.back()->get()});
      return true;
    }
    default:
      return false;
  }
}

// createFlow(qp, { flowType, priority, port, flags }, specs: { type, val?, mask?, tagId?, counters? }[]): handle |
// -errno
Napi::Value create_flow(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto qp = take<QueuePair>(info, 0);
  const Fields given(info[1]);
  ibv_flow_attr attr{};
  attr.type = given.number<ibv_flow_attr_type>("flowType");
  attr.priority = given.number<std::uint16_t>("priority");
  attr.port = given.number<std::uint8_t>("port");
  attr.flags = given.u32("flags");
  const auto specs = info[2].As<Napi::Array>();
  // The count and the size have 8 and 16 bits.
  if (specs.Length() > UINT8_MAX) return failure(env, EINVAL);
  FlowBytes bytes;
  std::vector<Taken<Counters>> counters;
  for (std::uint32_t i = 0; i < specs.Length(); i++) {
    if (!append_spec(bytes, Fields(specs.Get(i)), counters)) return failure(env, EINVAL);
  }
  std::vector<std::shared_ptr<Object>> parents{qp};
  parents.insert(parents.end(), counters.begin(), counters.end());
  for (const std::shared_ptr<Object>& parent : parents) {
    if (&parent->context() != &qp->context()) return failure(env, EINVAL);
  }
  errno = 0;
  ibv_flow* flow = ibv_create_flow(qp->qp(), bytes.finish(attr));
  if (flow == nullptr) return failure(env, creation_error());
  return wrap_object(env, std::make_shared<Flow>(
                              parents, flow, [](const Context&, ibv_flow* made) { return ibv_destroy_flow(made); }));
}

// createCounters(context): handle | -errno
Napi::Value create_counters(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  ibv_counters_init_attr attr{};
  errno = 0;
  ibv_counters* counters = ibv_create_counters(context->ctx(), &attr);
  if (counters == nullptr) return failure(info.Env(), creation_error());
  return wrap_object(info.Env(), std::make_shared<Counters>(
                                     std::vector<std::shared_ptr<Object>>{context}, counters,
                                     [](const Context&, ibv_counters* made) { return ibv_destroy_counters(made); }));
}

// attachCounters(counters, description, index, flow | undefined): 0 | -errno
Napi::Value attach_counters(const Napi::CallbackInfo& info) {
  const auto counters = take<Counters>(info, 0);
  const auto flow = info[3].IsUndefined() ? nullptr : take<Flow>(info, 3);
  if (flow != nullptr && &flow->context() != &counters->context()) return failure(info.Env(), EINVAL);
  ibv_counter_attach_attr attr{};
  attr.counter_desc = number_of<ibv_counter_description>(info[1]);
  attr.index = number_of<std::uint32_t>(info[2]);
  return failure(info.Env(),
                 ibv_attach_counters_point_flow(counters->get(), &attr, flow == nullptr ? nullptr : flow->get()));
}

// readCounters(counters, values: BigUint64Array, flags): 0 | -errno
Napi::Value read_counters(const Napi::CallbackInfo& info) {
  const auto counters = take<Counters>(info, 0);
  const View<std::uint64_t> values = words_of<std::uint64_t>(info[1]);
  return failure(info.Env(), ibv_read_counters(counters->get(), values.data, static_cast<std::uint32_t>(values.size),
                                               number_of<std::uint32_t>(info[2])));
}

}  // namespace

void init_flow(Napi::Object exports) {
  export_function<create_flow>(exports, "createFlow");
  export_function<create_counters>(exports, "createCounters");
  export_function<attach_counters>(exports, "attachCounters");
  export_function<read_counters>(exports, "readCounters");
}

}  // namespace verbs::core
