// Queue pairs and completion queues.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

#include "binding/encap.h"
#include "binding/library.h"
#include "provider/exchange.h"

namespace verbs::hbl::binding {
namespace {

constexpr auto kUnmapped = ~std::uintptr_t{0};

// What core keeps for a queue pair since its last INIT by hbldv_modify_qp: whether its entries have 64 bytes, and above
// that its port.
constexpr std::uint64_t kEntriesOf64 = 64;
constexpr unsigned kPortShift = 8;

bool mapped(const void* address) { return address && reinterpret_cast<std::uintptr_t>(address) != kUnmapped; }

// Whether the pages are mapped at this moment. libhbl keeps addresses of what it has unmapped: of the queues of a queue
// pair over a RESET, of a completion queue whose destruction was refused.
bool readable(const void* address, std::size_t size) {
  if (!mapped(address)) return false;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<std::uintptr_t>(address) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(address) + size;
  std::vector<unsigned char> pages((end - start + page - 1) / page);
  return mincore(reinterpret_cast<void*>(start), end - start, pages.data()) == 0;
}

bool readable(const hbldv_query_cq_attr& cq) {
  return readable(cq.mem_cpu_addr, cq.cq_size) && readable(cq.pi_cpu_addr, sizeof(std::uint32_t));
}

// createCq(library, context, cqe, channel | undefined, compVector, { portNum, cqType }): { handle, id, cqe } | -errno
napi_value create_cq(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  const Taken context = library ? take(arguments, 1, VERBS_CORE_CONTEXT) : nullptr;
  if (!context) return nullptr;
  Taken channel;
  if (!is_undefined(env, arguments[3])) {
    channel = take(arguments, 3, VERBS_CORE_CHANNEL);
    if (!channel) return nullptr;
    if (pointer<ibv_comp_channel>(channel)->context != pointer<ibv_context>(context)) return failure(env, EINVAL);
  }
  Given<hbldv_cq_attr> attr;
  attr->port_num = static_cast<std::uint8_t>(to_u32(env, get(env, arguments[5], "portNum")));
  attr->cq_type = static_cast<hbldv_cq_type>(to_u32(env, get(env, arguments[5], "cqType")));
  errno = 0;
  ibv_cq* cq = library->hbldv_create_cq(pointer<ibv_context>(context), static_cast<int>(to_integer(env, arguments[2])),
                                        channel ? pointer<ibv_comp_channel>(channel) : nullptr,
                                        static_cast<int>(to_integer(env, arguments[4])), attr.get());
  if (!cq) return failure(env, errno == 0 ? EIO : errno);
  return core()->adopt_cq(env, context.get(), channel.get(), cq);
}

// queryCq(library, cq): { cqNum, cqSize, regsOffset, cqType, mapped } | -errno
napi_value query_cq(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  const Taken cq = library ? take(arguments, 1, VERBS_CORE_CQ) : nullptr;
  if (!cq) return nullptr;
  Filled<hbldv_query_cq_attr> filled;
  const int error = filled.after(library->hbldv_query_cq(pointer<ibv_cq>(cq), filled.get()));
  if (error != 0) return failure(env, error);
  const hbldv_query_cq_attr& attr = *filled;
  napi_value result = object(env);
  set(env, result, "cqNum", number(env, attr.cq_num));
  set(env, result, "cqSize", number(env, attr.cq_size));
  set(env, result, "regsOffset", number(env, attr.regs_offset));
  set(env, result, "cqType", number(env, attr.cq_type));
  set(env, result, "mapped", boolean(env, readable(attr)));
  return result;
}

// readCq(library, cq, into): the producer index | -errno. Copies the buffer's entries.
napi_value read_cq(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  const Taken cq = library ? take(arguments, 1, VERBS_CORE_CQ) : nullptr;
  if (!cq) return nullptr;
  Filled<hbldv_query_cq_attr> filled;
  const int error = filled.after(library->hbldv_query_cq(pointer<ibv_cq>(cq), filled.get()));
  if (error != 0) return failure(env, error);
  const hbldv_query_cq_attr& attr = *filled;
  if (!readable(attr)) return failure(env, EOPNOTSUPP);
  const Bytes into = to_bytes(env, arguments[2]);
  // The index first: the entries that it counts have been written.
  const std::uint32_t index = __atomic_load_n(static_cast<std::uint32_t*>(attr.pi_cpu_addr), __ATOMIC_ACQUIRE);
  if (into.data) std::memcpy(into.data, attr.mem_cpu_addr, std::min<std::size_t>(into.size, attr.cq_size));
  return number(env, index);
}

// modifyQp(library, qp, attr, mask, pathMtu | undefined, hblAttr | undefined, encap | undefined, qpToMigrate |
// undefined): 0 | -errno. `pathMtu` overrides attr's. The queue pair keeps `encap` from then on. EOPNOTSUPP: `hblAttr`
// has what only the SDK's library knows.
napi_value modify_qp(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  const Taken qp = library ? take(arguments, 1, VERBS_CORE_QP) : nullptr;
  if (!qp) return nullptr;
  ibv_qp_attr attr{};
  if (core()->read_qp_attr(env, arguments[2], &attr) != 0) return nullptr;
  if (!is_undefined(env, arguments[4])) attr.path_mtu = static_cast<ibv_mtu>(to_u32(env, arguments[4]));
  Given<hbldv_sdk_qp_attr> sdk;
  hbldv_qp_attr& hbl = sdk->common;
  const napi_value given = arguments[5];
  const bool has_hbl = !is_undefined(env, given);
  if (has_hbl) {
    hbl.caps = to_u64(env, get(env, given, "caps"));
    hbl.local_key = to_u32(env, get(env, given, "localKey"));
    hbl.remote_key = to_u32(env, get(env, given, "remoteKey"));
    hbl.congestion_wnd = to_u32(env, get(env, given, "congestionWnd"));
    hbl.dest_wq_size = to_u32(env, get(env, given, "destWqSize"));
    hbl.wq_type = static_cast<hbldv_qp_wq_types>(to_u32(env, get(env, given, "wqType")));
    hbl.wq_granularity = static_cast<hbldv_swq_granularity>(to_u32(env, get(env, given, "wqGranularity")));
    hbl.priority = static_cast<std::uint8_t>(to_u32(env, get(env, given, "priority")));
    hbl.encap_num = static_cast<std::uint8_t>(to_u32(env, get(env, given, "encapNum")));
    hbl.coll_lag_idx = static_cast<std::uint8_t>(to_u32(env, get(env, given, "collLagIdx")));
    hbl.coll_last_in_lag = static_cast<std::uint8_t>(to_u32(env, get(env, given, "collLastInLag")));
    hbl.coll_lag_size = static_cast<std::uint8_t>(to_u32(env, get(env, given, "collLagSize")));
    constexpr std::uint64_t kSdkCaps = HBLDV_QP_CAP_SACK | HBLDV_QP_CAP_COLL | HBLDV_QP_CAP_MIGRATE;
    const bool collective = hbl.coll_lag_idx != 0 || hbl.coll_last_in_lag != 0 || hbl.coll_lag_size != 0;
    if (((hbl.caps & kSdkCaps) != 0 || collective) && !library->is_sdk()) return failure(env, EOPNOTSUPP);
  }
  Taken migrated;
  if (!is_undefined(env, arguments[7])) {
    migrated = take(arguments, 7, VERBS_CORE_QP);
    if (!migrated) return nullptr;
    sdk->qp_to_migrate = pointer<ibv_qp>(migrated);
  }
  EncapShare encap;
  if (!is_undefined(env, arguments[6]) && !encap_of(arguments, 6, &encap)) return nullptr;
  const int mask = static_cast<int>(to_integer(env, arguments[3]));
  const int error = library->hbldv_modify_qp(pointer<ibv_qp>(qp), &attr, mask, has_hbl ? &hbl : nullptr);
  if (error != 0) return failure(env, error);
  core()->qp_modified(qp.get(), &attr, mask);
  if ((mask & IBV_QP_STATE) != 0 && attr.qp_state == IBV_QPS_INIT) {
    const bool large = has_hbl && hbl.wq_granularity == HBLDV_SWQE_GRAN_64B;
    const std::uint64_t port = (mask & IBV_QP_PORT) != 0 ? attr.port_num : 0;
    core()->set_qp_word(qp.get(), (large ? kEntriesOf64 : 0) | port << kPortShift);
  }
  return failure(env, keep_encap(qp.get(), encap));
}

// The mapped send queue of a queue pair.
struct SendQueue {
  std::uint8_t* memory;
  std::uint32_t entries;
  std::uint32_t entry_size;
};

// libhbl has no call for the size of the mapping. The count follows from the creation; the size of an entry from the
// last INIT, of which ibv_modify_qp has no entries of 64 bytes. False: there is no such queue now. The state counts as
// well, and a queue whose pages are not all mapped is none.
bool send_queue_of(const Taken& taken, const hbldv_query_qp_attr& attr, SendQueue* queue) {
  const ibv_qp_state state = pointer<ibv_qp>(taken)->state;
  if (!mapped(attr.swq_cpu_addr)) return false;
  if (state == IBV_QPS_RESET || state == IBV_QPS_INIT || state == IBV_QPS_RTR) return false;
  ibv_qp_cap cap{};
  core()->qp_cap(taken.get(), &cap);
  queue->memory = static_cast<std::uint8_t*>(attr.swq_cpu_addr);
  queue->entries = std::bit_ceil(std::max(1u, cap.max_send_wr));
  queue->entry_size = (core()->qp_word(taken.get()) & kEntriesOf64) != 0 ? 64 : 32;
  return readable(queue->memory, std::size_t{queue->entries} * queue->entry_size);
}

// qpPort(qp): its port, if hbldv_modify_qp has given it one, else 0
napi_value qp_port(const Arguments& arguments) {
  const Taken qp = take(arguments, 0, VERBS_CORE_QP);
  if (!qp) return nullptr;
  return number(arguments.env, static_cast<std::uint32_t>(core()->qp_word(qp.get()) >> kPortShift));
}

// queryQp(library, qp): { qpNum, sendQueue?: { entries, entrySize }, receiveQueueMapped } | -errno
napi_value query_qp(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  const Taken qp = library ? take(arguments, 1, VERBS_CORE_QP) : nullptr;
  if (!qp) return nullptr;
  Filled<hbldv_query_qp_attr> filled;
  const int error = filled.after(library->hbldv_query_qp(pointer<ibv_qp>(qp), filled.get()));
  if (error != 0) return failure(env, error);
  const hbldv_query_qp_attr& attr = *filled;
  napi_value result = object(env);
  set(env, result, "qpNum", number(env, attr.qp_num));
  if (SendQueue queue{}; send_queue_of(qp, attr, &queue)) {
    const napi_value described = object(env);
    set(env, described, "entries", number(env, queue.entries));
    set(env, described, "entrySize", number(env, queue.entry_size));
    set(env, result, "sendQueue", described);
  }
  set(env, result, "receiveQueueMapped", boolean(env, mapped(attr.rwq_cpu_addr)));
  return result;
}

// writeSendQueue(library, qp, index, bytes, entries, entrySize): 0 | -errno. Into the slot of that index. The queue
// that JavaScript describes must be the one that is mapped now: EINVAL. ERANGE: more bytes than an entry has.
napi_value write_send_queue(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  const Taken qp = library ? take(arguments, 1, VERBS_CORE_QP) : nullptr;
  if (!qp) return nullptr;
  Filled<hbldv_query_qp_attr> filled;
  const int error = filled.after(library->hbldv_query_qp(pointer<ibv_qp>(qp), filled.get()));
  if (error != 0) return failure(env, error);
  const hbldv_query_qp_attr& attr = *filled;
  SendQueue queue{};
  if (!send_queue_of(qp, attr, &queue)) return failure(env, EINVAL);
  if (to_integer(env, arguments[4]) != queue.entries || to_integer(env, arguments[5]) != queue.entry_size) {
    return failure(env, EINVAL);
  }
  const Bytes bytes = to_bytes(env, arguments[3]);
  if (bytes.size > queue.entry_size) return failure(env, ERANGE);
  const std::uint64_t slot = static_cast<std::uint64_t>(to_integer(env, arguments[2])) % queue.entries;
  if (bytes.data) std::memcpy(queue.memory + slot * queue.entry_size, bytes.data, bytes.size);
  return failure(env, 0);
}

}  // namespace

void init_queues(napi_env env, napi_value exports) {
  export_function<create_cq>(env, exports, "createCq");
  export_function<query_cq>(env, exports, "queryCq");
  export_function<read_cq>(env, exports, "readCq");
  export_function<modify_qp>(env, exports, "modifyQp");
  export_function<qp_port>(env, exports, "qpPort");
  export_function<query_qp>(env, exports, "queryQp");
  export_function<write_send_queue>(env, exports, "writeSendQueue");
}

}  // namespace verbs::hbl::binding
