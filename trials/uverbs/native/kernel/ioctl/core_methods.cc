#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include <cerrno>

#include "kernel/attributes.h"
#include "kernel/create.h"
#include "kernel/drivers/driver.h"
#include "kernel/ioctl/methods.h"
#include "kernel/write_commands.h"

namespace verbs::uverbs {
namespace {

// The write interface through the ioctl. A request without buffers asks whether the kernel can do this: ENOSPC is yes.
int invoke_write(Call& call, const Attributes& attributes) {
  const auto number = attributes.value<std::uint32_t>(UVERBS_ATTR_WRITE_CMD);
  const WriteCommand* command = find_write_command(number);
  if (command == nullptr) return EOPNOTSUPP;
  call.request = attributes.input(UVERBS_ATTR_CORE_IN);
  call.response = attributes.output(UVERBS_ATTR_CORE_OUT);
  if (command->response != 0 && call.response.size == 0) return ENOSPC;
  return command->run(call);
}

int get_context(Call& call, const Attributes& attributes) {
  attributes.output(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS).put(kCompVectors);
  attributes.output(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT).put(std::uint64_t{1});  // OPTIONAL_MR_ACCESS
  return driver().get_context(call.context, call.driver_request, call.driver_response);
}

int query_context(Call& call, const Attributes& attributes) { return get_context(call, attributes); }

int query_port(Call& /*call*/, const Attributes& attributes) {
  if (attributes.value<std::uint8_t>(UVERBS_ATTR_QUERY_PORT_PORT_NUM) != 1) return EINVAL;
  ib_uverbs_query_port_resp_ex response{};
  response.legacy_resp = port_attributes();
  attributes.output(UVERBS_ATTR_QUERY_PORT_RESP).put(response);
  return 0;
}

// RoCE v1 and v2 of an IPv4 address, then of a link-local one, as the kernel fills the table.
ib_uverbs_gid_entry gid(std::uint32_t index) {
  ib_uverbs_gid_entry entry{};
  const unsigned char local[16] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0, 1};
  const unsigned char mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1};
  std::memcpy(entry.gid, index < 2 ? local : mapped, sizeof(entry.gid));
  entry.gid_index = index;
  entry.port_num = 1;
  entry.gid_type = index % 2 == 0 ? IB_UVERBS_GID_TYPE_ROCE_V1 : IB_UVERBS_GID_TYPE_ROCE_V2;
  entry.netdev_ifindex = 1;
  return entry;
}

int query_gid_table(Call& /*call*/, const Attributes& attributes) {
  const auto entry_size = attributes.value<std::uint64_t>(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE);
  Output entries = attributes.output(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
  if (entry_size < sizeof(ib_uverbs_gid_entry) || entries.size < kGids * entry_size) return EINVAL;
  for (std::uint32_t i = 0; i < kGids; ++i) Output{entries.data + i * entry_size, entry_size}.put(gid(i));
  attributes.output(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES).put(std::uint64_t{kGids});
  return 0;
}

int query_gid_entry(Call& /*call*/, const Attributes& attributes) {
  const auto index = attributes.value<std::uint32_t>(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX);
  if (attributes.value<std::uint32_t>(UVERBS_ATTR_QUERY_GID_ENTRY_PORT) != 1) return EINVAL;
  if (index >= kGids) return EINVAL;
  attributes.output(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY).put(gid(index));
  return 0;
}

int cq_create(Call& call, const Attributes& attributes) {
  const ib_uverbs_attr* channel = attributes.find(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL);
  const int fd = channel != nullptr ? static_cast<int>(channel->data_s64) : -1;
  const auto cqe = attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_CQ_CQE);
  std::uint32_t handle = 0;
  const int error =
      create_cq(call, attributes.value<std::uint64_t>(UVERBS_ATTR_CREATE_CQ_USER_HANDLE), cqe, fd, handle);
  if (error != 0) return error;
  attributes.find(UVERBS_ATTR_CREATE_CQ_HANDLE)->data = handle;
  attributes.output(UVERBS_ATTR_CREATE_CQ_RESP_CQE).put(cqe);
  return 0;
}

int qp_create(Call& call, const Attributes& attributes) {
  const auto cap = attributes.value<ib_uverbs_qp_cap>(UVERBS_ATTR_CREATE_QP_CAP);
  QpRequest request;
  request.user_handle = attributes.value<std::uint64_t>(UVERBS_ATTR_CREATE_QP_USER_HANDLE);
  request.type = attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_QP_TYPE);
  request.has_pd = attributes.has(UVERBS_ATTR_CREATE_QP_PD_HANDLE);
  request.pd = attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_QP_PD_HANDLE);
  request.has_cqs = attributes.has(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
  request.send_cq = attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
  request.recv_cq = attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
  request.has_srq = attributes.has(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);
  request.srq = attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);
  request.has_xrcd = attributes.has(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE);
  request.xrcd = attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE);
  request.has_table = attributes.has(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE);
  request.table = attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE);
  request.numbers = {cap.max_send_wr, cap.max_recv_wr, cap.max_send_sge, cap.max_recv_sge, cap.max_inline_data};
  if (request.has_table && cap.max_recv_sge != 0) return EINVAL;
  std::uint32_t handle = 0;
  const int error = create_qp(call, request, handle);
  if (error != 0) return error;
  attributes.find(UVERBS_ATTR_CREATE_QP_HANDLE)->data = handle;
  attributes.output(UVERBS_ATTR_CREATE_QP_RESP_CAP).put(cap);
  attributes.output(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM).put(number_of(handle));
  return 0;
}

int srq_create(Call& call, const Attributes& attributes) {
  Object srq;
  srq.type = Type::kSrq;
  srq.user_handle = attributes.value<std::uint64_t>(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE);
  const auto max_wr = attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_SRQ_MAX_WR);
  const auto max_sge = attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_SRQ_MAX_SGE);
  srq.numbers = {max_wr, max_sge};
  std::vector<Reference> references{{Type::kPd, attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE)}};
  if (attributes.has(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE)) {
    references.push_back({Type::kXrcd, attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE)});
  }
  if (attributes.has(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE)) {
    references.push_back({Type::kCq, attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE)});
  }
  std::uint32_t handle = 0;
  const int error = create(call, std::move(srq), references, handle);
  if (error != 0) return error;
  attributes.find(UVERBS_ATTR_CREATE_SRQ_HANDLE)->data = handle;
  attributes.output(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR).put(max_wr);
  attributes.output(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE).put(max_sge);
  attributes.output(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM).put(number_of(handle));
  return 0;
}

int wq_create(Call& call, const Attributes& attributes) {
  Object wq;
  wq.type = Type::kWq;
  wq.user_handle = attributes.value<std::uint64_t>(UVERBS_ATTR_CREATE_WQ_USER_HANDLE);
  const auto max_wr = attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_WQ_MAX_WR);
  const auto max_sge = attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_WQ_MAX_SGE);
  std::uint32_t handle = 0;
  const int error = create(call, std::move(wq),
                           {{Type::kPd, attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_WQ_PD_HANDLE)},
                            {Type::kCq, attributes.value<std::uint32_t>(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE)}},
                           handle);
  if (error != 0) return error;
  attributes.find(UVERBS_ATTR_CREATE_WQ_HANDLE)->data = handle;
  attributes.output(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR).put(max_wr);
  attributes.output(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE).put(max_sge);
  attributes.output(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM).put(number_of(handle));
  return 0;
}

int query_mr(Call& call, const Attributes& attributes) {
  const auto handle = attributes.value<std::uint32_t>(UVERBS_ATTR_QUERY_MR_HANDLE);
  const Object* mr = call.context.find(Type::kMr, handle);
  attributes.output(UVERBS_ATTR_QUERY_MR_RESP_LKEY).put(key_of(handle));
  attributes.output(UVERBS_ATTR_QUERY_MR_RESP_RKEY).put(key_of(handle));
  attributes.output(UVERBS_ATTR_QUERY_MR_RESP_LENGTH).put(mr->length);
  attributes.output(UVERBS_ATTR_QUERY_MR_RESP_IOVA).put(mr->address);
  return 0;
}

int reg_dm_mr(Call& /*call*/, const Attributes& attributes) {
  const auto handle = attributes.value<std::uint32_t>(UVERBS_ATTR_REG_DM_MR_HANDLE);
  attributes.output(UVERBS_ATTR_REG_DM_MR_RESP_LKEY).put(key_of(handle));
  attributes.output(UVERBS_ATTR_REG_DM_MR_RESP_RKEY).put(key_of(handle));
  return 0;
}

int read_counters(Call& /*call*/, const Attributes& attributes) {
  Output values = attributes.output(UVERBS_ATTR_READ_COUNTERS_BUFF);
  std::memset(values.data, 0, values.size);
  return 0;
}

std::vector<Method> make_methods() {
  const auto destroy = [](std::uint16_t object, std::uint16_t number, const char* name, Type type, std::uint16_t handle,
                          std::uint16_t response) {
    Method method{object, number, name, {{handle, Kind::kDestroyed, type}}};
    if (response != handle) method.rules.push_back({response, Kind::kOut});
    return method;
  };
  return {
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_INVOKE_WRITE,
       "INVOKE_WRITE",
       {{UVERBS_ATTR_CORE_IN}, {UVERBS_ATTR_CORE_OUT, Kind::kOut}, {UVERBS_ATTR_WRITE_CMD}},
       invoke_write},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_GET_CONTEXT,
       "GET_CONTEXT",
       {{UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, Kind::kOut}, {UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, Kind::kOut}},
       get_context},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_QUERY_CONTEXT,
       "QUERY_CONTEXT",
       {{UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, Kind::kOut}, {UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, Kind::kOut}},
       query_context},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_QUERY_PORT,
       "QUERY_PORT",
       {{UVERBS_ATTR_QUERY_PORT_PORT_NUM}, {UVERBS_ATTR_QUERY_PORT_RESP, Kind::kOut}},
       query_port},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_QUERY_GID_TABLE,
       "QUERY_GID_TABLE",
       {{UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE},
        {UVERBS_ATTR_QUERY_GID_TABLE_FLAGS},
        {UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, Kind::kOut},
        {UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, Kind::kOut}},
       query_gid_table},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_QUERY_GID_ENTRY,
       "QUERY_GID_ENTRY",
       {{UVERBS_ATTR_QUERY_GID_ENTRY_PORT},
        {UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX},
        {UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS},
        {UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, Kind::kOut}},
       query_gid_entry},
      {UVERBS_OBJECT_ASYNC_EVENT,
       UVERBS_METHOD_ASYNC_EVENT_ALLOC,
       "ASYNC_EVENT_ALLOC",
       {{UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, Kind::kNewFd}}},
      destroy(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, "PD_DESTROY", Type::kPd, UVERBS_ATTR_DESTROY_PD_HANDLE,
              UVERBS_ATTR_DESTROY_PD_HANDLE),
      destroy(UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, "AH_DESTROY", Type::kAh, UVERBS_ATTR_DESTROY_AH_HANDLE,
              UVERBS_ATTR_DESTROY_AH_HANDLE),
      destroy(UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, "MW_DESTROY", Type::kMw, UVERBS_ATTR_DESTROY_MW_HANDLE,
              UVERBS_ATTR_DESTROY_MW_HANDLE),
      destroy(UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY, "XRCD_DESTROY", Type::kXrcd,
              UVERBS_ATTR_DESTROY_XRCD_HANDLE, UVERBS_ATTR_DESTROY_XRCD_HANDLE),
      destroy(UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY, "FLOW_DESTROY", Type::kFlow,
              UVERBS_ATTR_DESTROY_FLOW_HANDLE, UVERBS_ATTR_DESTROY_FLOW_HANDLE),
      destroy(UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY, "RWQ_IND_TBL_DESTROY",
              Type::kIndirectionTable, UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE),
      destroy(UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_DESTROY, "FLOW_ACTION_DESTROY", Type::kFlowAction,
              UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE),
      destroy(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, "CQ_DESTROY", Type::kCq, UVERBS_ATTR_DESTROY_CQ_HANDLE,
              UVERBS_ATTR_DESTROY_CQ_RESP),
      destroy(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, "QP_DESTROY", Type::kQp, UVERBS_ATTR_DESTROY_QP_HANDLE,
              UVERBS_ATTR_DESTROY_QP_RESP),
      destroy(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, "SRQ_DESTROY", Type::kSrq, UVERBS_ATTR_DESTROY_SRQ_HANDLE,
              UVERBS_ATTR_DESTROY_SRQ_RESP),
      destroy(UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY, "WQ_DESTROY", Type::kWq, UVERBS_ATTR_DESTROY_WQ_HANDLE,
              UVERBS_ATTR_DESTROY_WQ_RESP),
      destroy(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, "MR_DESTROY", Type::kMr, UVERBS_ATTR_DESTROY_MR_HANDLE,
              UVERBS_ATTR_DESTROY_MR_HANDLE),
      destroy(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, "DM_FREE", Type::kDm, UVERBS_ATTR_FREE_DM_HANDLE,
              UVERBS_ATTR_FREE_DM_HANDLE),
      destroy(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY, "COUNTERS_DESTROY", Type::kCounters,
              UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, UVERBS_ATTR_DESTROY_COUNTERS_HANDLE),
      {UVERBS_OBJECT_CQ,
       UVERBS_METHOD_CQ_CREATE,
       "CQ_CREATE",
       {{UVERBS_ATTR_CREATE_CQ_HANDLE, Kind::kOut},
        {UVERBS_ATTR_CREATE_CQ_CQE},
        {UVERBS_ATTR_CREATE_CQ_USER_HANDLE, Kind::kAddress},
        {UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, Kind::kChannel},
        {UVERBS_ATTR_CREATE_CQ_COMP_VECTOR},
        {UVERBS_ATTR_CREATE_CQ_FLAGS},
        {UVERBS_ATTR_CREATE_CQ_RESP_CQE, Kind::kOut},
        {UVERBS_ATTR_CREATE_CQ_EVENT_FD, Kind::kAsync}},
       cq_create,
       Type::kCq},
      {UVERBS_OBJECT_QP,
       UVERBS_METHOD_QP_CREATE,
       "QP_CREATE",
       {{UVERBS_ATTR_CREATE_QP_HANDLE, Kind::kOut},
        {UVERBS_ATTR_CREATE_QP_XRCD_HANDLE},
        {UVERBS_ATTR_CREATE_QP_PD_HANDLE},
        {UVERBS_ATTR_CREATE_QP_SRQ_HANDLE},
        {UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE},
        {UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE},
        {UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE},
        {UVERBS_ATTR_CREATE_QP_USER_HANDLE, Kind::kAddress},
        {UVERBS_ATTR_CREATE_QP_CAP},
        {UVERBS_ATTR_CREATE_QP_TYPE},
        {UVERBS_ATTR_CREATE_QP_FLAGS},
        {UVERBS_ATTR_CREATE_QP_SOURCE_QPN},
        {UVERBS_ATTR_CREATE_QP_EVENT_FD, Kind::kAsync},
        {UVERBS_ATTR_CREATE_QP_RESP_CAP, Kind::kOut},
        {UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, Kind::kOut}},
       qp_create,
       Type::kQp},
      {UVERBS_OBJECT_SRQ,
       UVERBS_METHOD_SRQ_CREATE,
       "SRQ_CREATE",
       {{UVERBS_ATTR_CREATE_SRQ_HANDLE, Kind::kOut},
        {UVERBS_ATTR_CREATE_SRQ_PD_HANDLE},
        {UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE},
        {UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE},
        {UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, Kind::kAddress},
        {UVERBS_ATTR_CREATE_SRQ_MAX_WR},
        {UVERBS_ATTR_CREATE_SRQ_MAX_SGE},
        {UVERBS_ATTR_CREATE_SRQ_LIMIT},
        {UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS},
        {UVERBS_ATTR_CREATE_SRQ_TYPE},
        {UVERBS_ATTR_CREATE_SRQ_EVENT_FD, Kind::kAsync},
        {UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, Kind::kOut},
        {UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, Kind::kOut},
        {UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, Kind::kOut}},
       srq_create,
       Type::kSrq},
      {UVERBS_OBJECT_WQ,
       UVERBS_METHOD_WQ_CREATE,
       "WQ_CREATE",
       {{UVERBS_ATTR_CREATE_WQ_HANDLE, Kind::kOut},
        {UVERBS_ATTR_CREATE_WQ_PD_HANDLE},
        {UVERBS_ATTR_CREATE_WQ_CQ_HANDLE},
        {UVERBS_ATTR_CREATE_WQ_USER_HANDLE, Kind::kAddress},
        {UVERBS_ATTR_CREATE_WQ_TYPE},
        {UVERBS_ATTR_CREATE_WQ_EVENT_FD, Kind::kAsync},
        {UVERBS_ATTR_CREATE_WQ_MAX_WR},
        {UVERBS_ATTR_CREATE_WQ_MAX_SGE},
        {UVERBS_ATTR_CREATE_WQ_FLAGS},
        {UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, Kind::kOut},
        {UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, Kind::kOut},
        {UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, Kind::kOut}},
       wq_create,
       Type::kWq},
      {UVERBS_OBJECT_DM,
       UVERBS_METHOD_DM_ALLOC,
       "DM_ALLOC",
       {{UVERBS_ATTR_ALLOC_DM_HANDLE, Kind::kNew, Type::kDm},
        {UVERBS_ATTR_ALLOC_DM_LENGTH},
        {UVERBS_ATTR_ALLOC_DM_ALIGNMENT},
        {0x1000, Kind::kOut},
        {0x1001, Kind::kOut},
        {0x1002}}},
      {UVERBS_OBJECT_MR,
       UVERBS_METHOD_DM_MR_REG,
       "DM_MR_REG",
       {{UVERBS_ATTR_REG_DM_MR_HANDLE, Kind::kNew, Type::kMr},
        {UVERBS_ATTR_REG_DM_MR_OFFSET},
        {UVERBS_ATTR_REG_DM_MR_LENGTH},
        {UVERBS_ATTR_REG_DM_MR_PD_HANDLE, Kind::kHandle, Type::kPd},
        {UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS},
        {UVERBS_ATTR_REG_DM_MR_DM_HANDLE, Kind::kHandle, Type::kDm},
        {UVERBS_ATTR_REG_DM_MR_RESP_LKEY, Kind::kOut},
        {UVERBS_ATTR_REG_DM_MR_RESP_RKEY, Kind::kOut}},
       reg_dm_mr},
      {UVERBS_OBJECT_MR,
       UVERBS_METHOD_ADVISE_MR,
       "ADVISE_MR",
       {{UVERBS_ATTR_ADVISE_MR_PD_HANDLE, Kind::kUsed, Type::kPd},
        {UVERBS_ATTR_ADVISE_MR_ADVICE},
        {UVERBS_ATTR_ADVISE_MR_FLAGS},
        {UVERBS_ATTR_ADVISE_MR_SGE_LIST}}},
      {UVERBS_OBJECT_MR,
       UVERBS_METHOD_QUERY_MR,
       "QUERY_MR",
       {{UVERBS_ATTR_QUERY_MR_HANDLE, Kind::kUsed, Type::kMr},
        {UVERBS_ATTR_QUERY_MR_RESP_LKEY, Kind::kOut},
        {UVERBS_ATTR_QUERY_MR_RESP_RKEY, Kind::kOut},
        {UVERBS_ATTR_QUERY_MR_RESP_LENGTH, Kind::kOut},
        {UVERBS_ATTR_QUERY_MR_RESP_IOVA, Kind::kOut}},
       query_mr},
      {UVERBS_OBJECT_COUNTERS,
       UVERBS_METHOD_COUNTERS_CREATE,
       "COUNTERS_CREATE",
       {{UVERBS_ATTR_CREATE_COUNTERS_HANDLE, Kind::kNew, Type::kCounters}}},
      {UVERBS_OBJECT_COUNTERS,
       UVERBS_METHOD_COUNTERS_READ,
       "COUNTERS_READ",
       {{UVERBS_ATTR_READ_COUNTERS_HANDLE, Kind::kUsed, Type::kCounters},
        {UVERBS_ATTR_READ_COUNTERS_BUFF, Kind::kOut},
        {UVERBS_ATTR_READ_COUNTERS_FLAGS}},
       read_counters},
  };
}

}  // namespace

const std::vector<Method>& core_methods() {
  static const std::vector<Method> methods = make_methods();
  return methods;
}

}  // namespace verbs::uverbs
