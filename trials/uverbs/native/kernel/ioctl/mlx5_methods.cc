#include <endian.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include <cerrno>

#include "kernel/create.h"
#include "kernel/ioctl/methods.h"

namespace verbs::uverbs {
namespace {

constexpr std::uint16_t kQueryHcaCap = 0x100;
constexpr std::uint16_t kNicFlowTable = (0x7 << 1) | 1;
constexpr std::size_t kOutHeader = 16;  // of a command: status, syndrome
constexpr std::size_t kIdentifier = 8;  // of a created object, big-endian
constexpr std::size_t kDwords = 4;

std::uint16_t be16_at(Input in, std::size_t offset) {
  return static_cast<std::uint16_t>(in.data[offset] << 8 | in.data[offset + 1]);
}

// A NIC whose receive and transmit tables reformat in all four ways.
void fill_flow_capabilities(unsigned char* block, std::size_t size) {
  if (size < 0x140) return;
  block[4] |= 0x80;  // encap_general_header
  block[5] |= 12;    // log_max_packet_reformat_context
  block[6] |= 0x3;   // max_encap_header_size: 1023
  block[7] = 0xff;
  const std::size_t tables[] = {0x40, 0x100};  // nic_receive, nic_transmit
  for (std::size_t table : tables) {
    block[table] |= 0x80 | 0x10 | 0x01;      // ft_support, flow_modify_en, reformat
    block[table + 1] |= 0x80;                // decap
    block[table + 2] |= 0x20 | 0x10 | 0x08;  // l3_tunnel_to_l2, l2_to_l3_tunnel, reformat_and_modify
  }
}

int devx_command(Input in, Output out) {
  if (in.size < kOutHeader || out.size < kOutHeader) return EINVAL;
  std::memset(out.data, 0, out.size);
  if (be16_at(in, 0) == kQueryHcaCap && be16_at(in, 6) == kNicFlowTable) {
    fill_flow_capabilities(out.data + kOutHeader, out.size - kOutHeader);
  }
  return 0;
}

int devx_other(Call& /*call*/, const Attributes& attributes) {
  return devx_command(attributes.input(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN),
                      attributes.output(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT));
}

int devx_create(Call& /*call*/, const Attributes& attributes) {
  Output out = attributes.output(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT);
  const int error = devx_command(attributes.input(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN), out);
  if (error != 0 || out.size < kIdentifier + kDwords) return error;
  const auto handle = attributes.value<std::uint32_t>(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE);
  const std::uint32_t number = htobe32(number_of(handle));
  std::memcpy(out.data + kIdentifier, &number, sizeof(number));
  return 0;
}

int devx_modify(Call& /*call*/, const Attributes& attributes) {
  return devx_command(attributes.input(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN),
                      attributes.output(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT));
}

int devx_query(Call& /*call*/, const Attributes& attributes) {
  return devx_command(attributes.input(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN),
                      attributes.output(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT));
}

// Which types a table takes, as the kernel says it.
int create_reformat(Call& /*call*/, const Attributes& attributes) {
  const auto type = attributes.value<std::uint32_t>(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE);
  const auto table = attributes.value<std::uint32_t>(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE);
  const bool decapsulates = type == MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2 ||
                            type == MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2;
  if (type > MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL) return EOPNOTSUPP;
  if (table != (decapsulates ? MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX : MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX)) {
    return EOPNOTSUPP;
  }
  if (type == MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2) return 0;
  const ib_uverbs_attr* data = attributes.find(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF);
  if (data == nullptr) return ENOENT;
  return data->len > 1023 ? EINVAL : 0;
}

int query_eqn(Call& /*call*/, const Attributes& attributes) {
  attributes.output(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN).put(std::uint32_t{7});
  return 0;
}

int register_umem(Call& /*call*/, const Attributes& attributes) {
  const auto handle = attributes.value<std::uint32_t>(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE);
  attributes.output(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID).put(number_of(handle));
  return 0;
}

int allocate_uar(Call& /*call*/, const Attributes& attributes) {
  const auto handle = attributes.value<std::uint32_t>(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
  attributes.output(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET).put((std::uint64_t{handle} + 1) << 20);
  attributes.output(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH).put(std::uint32_t{4096});
  attributes.output(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID).put(std::uint32_t{1000 + handle});
  return 0;
}

// The first attribute of a driver; the kernel's name for it differs between releases.
constexpr std::uint16_t kFirstOfDriver = 1u << UVERBS_ID_NS_SHIFT;

std::vector<Method> make_methods() {
  const auto destroy = [](std::uint16_t object, std::uint16_t number, const char* name, Type type) {
    return Method{object, number, name, {{kFirstOfDriver, Kind::kDestroyed, type}}};
  };
  return {
      {UVERBS_OBJECT_FLOW,
       MLX5_IB_METHOD_CREATE_FLOW,
       "MLX5_CREATE_FLOW",
       {{MLX5_IB_ATTR_CREATE_FLOW_HANDLE, Kind::kNew, Type::kFlow},
        {MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE},
        {MLX5_IB_ATTR_CREATE_FLOW_DEST_QP, Kind::kHandle, Type::kQp},
        {MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX, Kind::kUsed, Type::kDevxObject},
        {MLX5_IB_ATTR_CREATE_FLOW_MATCHER, Kind::kHandle, Type::kMatcher},
        {MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, Kind::kHandles, Type::kFlowAction},
        {MLX5_IB_ATTR_CREATE_FLOW_TAG},
        {MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX},
        {MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET},
        {MLX5_IB_ATTR_CREATE_FLOW_FLAGS}}},
      destroy(UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_DESTROY_FLOW, "MLX5_DESTROY_FLOW", Type::kFlow),
      {MLX5_IB_OBJECT_FLOW_MATCHER,
       MLX5_IB_METHOD_FLOW_MATCHER_CREATE,
       "FLOW_MATCHER_CREATE",
       {{MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, Kind::kNew, Type::kMatcher},
        {MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK},
        {MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE},
        {MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA},
        {MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS},
        {MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE}}},
      destroy(MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_DESTROY, "FLOW_MATCHER_DESTROY", Type::kMatcher),
      {UVERBS_OBJECT_FLOW_ACTION,
       MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER,
       "CREATE_MODIFY_HEADER",
       {{MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE, Kind::kNew, Type::kFlowAction},
        {MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM},
        {MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE}}},
      {UVERBS_OBJECT_FLOW_ACTION,
       MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT,
       "CREATE_PACKET_REFORMAT",
       {{MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE, Kind::kNew, Type::kFlowAction},
        {MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE},
        {MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE},
        {MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF}},
       create_reformat},
      {MLX5_IB_OBJECT_DEVX,
       MLX5_IB_METHOD_DEVX_OTHER,
       "DEVX_OTHER",
       {{MLX5_IB_ATTR_DEVX_OTHER_CMD_IN}, {MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, Kind::kOut}},
       devx_other},
      {MLX5_IB_OBJECT_DEVX,
       MLX5_IB_METHOD_DEVX_QUERY_EQN,
       "DEVX_QUERY_EQN",
       {{MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC}, {MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, Kind::kOut}},
       query_eqn},
      {MLX5_IB_OBJECT_DEVX_OBJ,
       MLX5_IB_METHOD_DEVX_OBJ_CREATE,
       "DEVX_OBJ_CREATE",
       {{MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, Kind::kNew, Type::kDevxObject},
        {MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN},
        {MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, Kind::kOut}},
       devx_create},
      destroy(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, "DEVX_OBJ_DESTROY", Type::kDevxObject),
      {MLX5_IB_OBJECT_DEVX_OBJ,
       MLX5_IB_METHOD_DEVX_OBJ_MODIFY,
       "DEVX_OBJ_MODIFY",
       {{MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, Kind::kUsed, Type::kDevxObject},
        {MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN},
        {MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, Kind::kOut}},
       devx_modify},
      {MLX5_IB_OBJECT_DEVX_OBJ,
       MLX5_IB_METHOD_DEVX_OBJ_QUERY,
       "DEVX_OBJ_QUERY",
       {{MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, Kind::kUsed, Type::kDevxObject},
        {MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN},
        {MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, Kind::kOut}},
       devx_query},
      {MLX5_IB_OBJECT_DEVX_UMEM,
       MLX5_IB_METHOD_DEVX_UMEM_REG,
       "DEVX_UMEM_REG",
       {{MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, Kind::kNew, Type::kDevxUmem},
        {MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, Kind::kAddress},
        {MLX5_IB_ATTR_DEVX_UMEM_REG_LEN},
        {MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS},
        {MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, Kind::kOut},
        {MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP}},
       register_umem},
      destroy(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, "DEVX_UMEM_DEREG", Type::kDevxUmem),
      {MLX5_IB_OBJECT_UAR,
       MLX5_IB_METHOD_UAR_OBJ_ALLOC,
       "UAR_ALLOC",
       {{MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, Kind::kNew, Type::kUar},
        {MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE},
        {MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, Kind::kOut},
        {MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, Kind::kOut},
        {MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, Kind::kOut}},
       allocate_uar},
      destroy(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, "UAR_DESTROY", Type::kUar),
  };
}

}  // namespace

const std::vector<Method>& mlx5_methods() {
  static const std::vector<Method> methods = make_methods();
  return methods;
}

}  // namespace verbs::uverbs
