#include "post.h"

#include <arpa/inet.h>

#include "address_handle.h"
#include "handle.h"
#include "memory_region.h"
#include "queue_pair.h"
#include "staging.h"

namespace verbs::core {

int QueuePair::StageSges(Cursor& cursor, WorkQueue& queue, std::uint32_t count, ibv_sge* sges, int* used) {
  if (count > queue.max_sge()) return kTooManySge;
  const IdTable<MemoryRegion>& regions = context().environment().memory_regions;
  *used = 0;
  for (std::uint32_t i = 0; i < count; i++) {
    cursor.header.sge = i;
    SgeRecord record;
    if (!cursor.Read(&record)) return kTruncated;
    MemoryRegion* region = regions.Find(record.memory_region);
    if (region == nullptr || &region->context() != &context()) return kNoMemoryRegion;
    const ibv_mr* mr = region->mr();
    if (record.offset > mr->length || record.length > mr->length - record.offset) return kOutOfBounds;
    // To some adapters a length of zero means 2^31 bytes.
    if (record.length == 0) continue;
    ibv_sge& sge = sges[(*used)++];
    sge.addr = reinterpret_cast<std::uintptr_t>(mr->addr) + record.offset;
    sge.length = record.length;
    sge.lkey = mr->lkey;
    queue.Hold(std::static_pointer_cast<MemoryRegion>(region->shared_from_this()));
  }
  return 0;
}

int QueuePair::StageSend(Cursor& cursor, std::uint32_t index) {
  SendRecord record;
  if (!cursor.Read(&record)) return kTruncated;
  if (send_queue_->full()) return kQueueFull;
  ibv_send_wr& wr = send_requests_[index];
  wr = {};
  wr.wr_id = send_queue_->Stage({record.wr_id, (record.flags & kIdIsNumber) != 0});
  wr.opcode = static_cast<ibv_wr_opcode>(record.opcode);
  wr.send_flags = record.send_flags;
  wr.sg_list = send_sges_.data() + std::size_t{index} * send_queue_->max_sge();
  const int error = StageSges(cursor, *send_queue_, record.num_sge, wr.sg_list, &wr.num_sge);
  if (error != 0) return error;
  switch (record.opcode) {
    case IBV_WR_SEND:
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_READ:
      wr.wr.rdma.remote_addr = record.remote_addr;
      wr.wr.rdma.rkey = record.rkey;
      break;
    case IBV_WR_SEND_WITH_IMM:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      wr.imm_data = htonl(record.imm_data);
      wr.wr.rdma.remote_addr = record.remote_addr;
      wr.wr.rdma.rkey = record.rkey;
      break;
    case IBV_WR_SEND_WITH_INV:
    case IBV_WR_LOCAL_INV:
      wr.invalidate_rkey = record.imm_data;
      break;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      wr.wr.atomic.remote_addr = record.remote_addr;
      wr.wr.atomic.rkey = record.rkey;
      wr.wr.atomic.compare_add = record.compare_add;
      wr.wr.atomic.swap = record.swap;
      break;
    default:
      return kBadOpcode;
  }
  if (qp_->qp_type != IBV_QPT_UD) return 0;
  // Providers follow the pointer without a look.
  AddressHandle* address = context().environment().address_handles.Find(record.address_handle);
  if (address == nullptr || &address->context() != &context()) return kNoAddress;
  wr.wr.ud.ah = address->ah();
  wr.wr.ud.remote_qpn = record.remote_qpn;
  wr.wr.ud.remote_qkey = record.remote_qkey;
  send_queue_->Hold(std::static_pointer_cast<AddressHandle>(address->shared_from_this()));
  return 0;
}

int QueuePair::StageRecv(Cursor& cursor, std::uint32_t index) {
  RecvRecord record;
  if (!cursor.Read(&record)) return kTruncated;
  if (recv_queue_->full()) return kQueueFull;
  ibv_recv_wr& wr = recv_requests_[index];
  wr = {};
  wr.wr_id = recv_queue_->Stage({record.wr_id, (record.flags & kIdIsNumber) != 0});
  wr.sg_list = recv_sges_.data() + std::size_t{index} * recv_queue_->max_sge();
  return StageSges(cursor, *recv_queue_, record.num_sge, wr.sg_list, &wr.num_sge);
}

int QueuePair::PostSend(Cursor& cursor, std::uint32_t count) {
  return PostChunks(
      cursor, count, *send_queue_, send_requests_, [&](std::uint32_t index) { return StageSend(cursor, index); },
      // The inline ibv_post_send, spelled out: a function of the context.
      [&](ibv_send_wr* first, ibv_send_wr** bad) { return qp_->context->ops.post_send(qp_, first, bad); });
}

int QueuePair::PostRecv(Cursor& cursor, std::uint32_t count) {
  return PostChunks(
      cursor, count, *recv_queue_, recv_requests_, [&](std::uint32_t index) { return StageRecv(cursor, index); },
      [&](ibv_recv_wr* first, ibv_recv_wr** bad) { return qp_->context->ops.post_recv(qp_, first, bad); });
}

namespace {

struct Arguments {
  napi_value object = nullptr;
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::uint32_t count = 0;
};

// (handle, bytes: Uint8Array, count), as all three calls take them.
Arguments ReadArguments(napi_env env, napi_callback_info info) {
  Arguments arguments;
  napi_value values[3];
  std::size_t argc = 3;
  napi_typedarray_type type = napi_int8_array;
  void* data = nullptr;
  if (napi_get_cb_info(env, info, &argc, values, nullptr, nullptr) != napi_ok || argc < 3 ||
      napi_get_typedarray_info(env, values[1], &type, &arguments.size, &data, nullptr, nullptr) != napi_ok ||
      type != napi_uint8_array || napi_get_value_uint32(env, values[2], &arguments.count) != napi_ok) {
    throw Napi::TypeError::New(env, "expected a handle, a Uint8Array and a count");
  }
  arguments.object = values[0];
  arguments.bytes = static_cast<std::uint8_t*>(data);
  return arguments;
}

template <typename Call>
napi_value Run(napi_env env, Call call) {
  return Napi::details::WrapCallback(env, [&]() -> napi_value {
    napi_value result = nullptr;
    napi_create_int32(env, call(), &result);
    return result;
  });
}

template <int (QueuePair::*Method)(Cursor&, std::uint32_t)>
napi_value Post(napi_env env, napi_callback_info info) {
  return Run(env, [&] {
    const Arguments arguments = ReadArguments(env, info);
    const auto object = UnwrapOpen(env, arguments.object, QueuePair::kKind);
    Cursor cursor(arguments.bytes, arguments.size);
    const int result = (static_cast<QueuePair&>(*object).*Method)(cursor, arguments.count);
    if (arguments.size >= sizeof cursor.header) std::memcpy(arguments.bytes, &cursor.header, sizeof cursor.header);
    return result;
  });
}

// poll(cq, records, count): the number of completions, or -errno.
napi_value Poll(napi_env env, napi_callback_info info) {
  return Run(env, [&] {
    const Arguments arguments = ReadArguments(env, info);
    const auto object = UnwrapOpen(env, arguments.object, CompletionQueue::kKind);
    const std::size_t room = std::min<std::size_t>(arguments.size / sizeof(CompletionRecord), arguments.count);
    return static_cast<CompletionQueue&>(*object).Poll(arguments.bytes, static_cast<int>(room));
  });
}

void ExportRaw(Napi::Object exports, const char* name, napi_callback function) {
  napi_value value = nullptr;
  if (napi_create_function(exports.Env(), name, NAPI_AUTO_LENGTH, function, nullptr, &value) != napi_ok) {
    throw Napi::Error::New(exports.Env());
  }
  exports.Set(name, value);
}

}  // namespace

void InitPost(Napi::Object exports) {
  // postSend(qp, batch, count), postRecv(qp, batch, count): 0, a positive errno, or a PostError.
  ExportRaw(exports, "postSend", Post<&QueuePair::PostSend>);
  ExportRaw(exports, "postRecv", Post<&QueuePair::PostRecv>);
  ExportRaw(exports, "poll", Poll);
}

}  // namespace verbs::core
