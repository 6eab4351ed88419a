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
Napi::Value create_cq(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  const auto context = take<ibv_context>(info, 1);
  const auto channel = take_if_given<ibv_comp_channel>(info[3]);
  if (channel && channel->context != context.get()) return failure(env, EINVAL);
  Given<hbldv_cq_attr> attr;
  const Fields given(info[5]);
  attr->port_num = given.number<std::uint8_t>("portNum");
  attr->cq_type = given.number<hbldv_cq_type>("cqType");
  errno = 0;
  ibv_cq* cq = library.hbldv_create_cq(context.get(), number_of<int>(info[2]), channel.get(), number_of<int>(info[4]),
                                       attr.get());
  if (!cq) return failure(env, errno == 0 ? EIO : errno);
  return checked(env, core()->adopt_cq(env, context.object(), channel.object(), cq));
}

// queryCq(library, cq): { cqNum, cqSize, regsOffset, cqType, mapped } | -errno
Napi::Value query_cq(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  const auto cq = take<ibv_cq>(info, 1);
  Filled<hbldv_query_cq_attr> filled;
  const int error = filled.after(library.hbldv_query_cq(cq.get(), filled.get()));
  if (error != 0) return failure(env, error);
  const hbldv_query_cq_attr& attr = *filled;
  Napi::Object result = Napi::Object::New(env);
  result.Set("cqNum", attr.cq_num);
  result.Set("cqSize", attr.cq_size);
  result.Set("regsOffset", attr.regs_offset);
  result.Set("cqType", number(env, attr.cq_type));
  result.Set("mapped", readable(attr));
  return result;
}

// readCq(library, cq, into): the producer index | -errno. Copies the buffer's entries.
Napi::Value read_cq(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  const auto cq = take<ibv_cq>(info, 1);
  Filled<hbldv_query_cq_attr> filled;
  const int error = filled.after(library.hbldv_query_cq(cq.get(), filled.get()));
  if (error != 0) return failure(env, error);
  const hbldv_query_cq_attr& attr = *filled;
  if (!readable(attr)) return failure(env, EOPNOTSUPP);
  const Bytes into = bytes_of(info[2]);
  // The index first: the entries that it counts have been written.
  const std::uint32_t index = __atomic_load_n(static_cast<std::uint32_t*>(attr.pi_cpu_addr), __ATOMIC_ACQUIRE);
  if (into.data) std::memcpy(into.data, attr.mem_cpu_addr, std::min<std::size_t>(into.size, attr.cq_size));
  return number(env, index);
}

// modifyQp(library, qp, attr, mask, pathMtu | undefined, hblAttr | undefined, encap | undefined, qpToMigrate |
// undefined): 0 | -errno. `pathMtu` overrides attr's. The queue pair keeps `encap` from then on. EOPNOTSUPP: `hblAttr`
// has what only the SDK's library knows. EINVAL: `qpToMigrate` is of another context, and perhaps of another library,
// which would take it for a structure of its own.
Napi::Value modify_qp(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  const auto qp = take<ibv_qp>(info, 1);
  ibv_qp_attr attr{};
  if (core()->read_qp_attr(env, info[2], &attr) != 0) throw Napi::Error::New(env);
  if (!info[4].IsUndefined()) attr.path_mtu = number_of<ibv_mtu>(info[4]);
  Given<hbldv_sdk_qp_attr> sdk;
  hbldv_qp_attr& hbl = sdk->common;
  const bool has_hbl = !info[5].IsUndefined();
  if (has_hbl) {
    const Fields given(info[5]);
    hbl.caps = given.u64("caps");
    hbl.local_key = given.u32("localKey");
    hbl.remote_key = given.u32("remoteKey");
    hbl.congestion_wnd = given.u32("congestionWnd");
    hbl.dest_wq_size = given.u32("destWqSize");
    hbl.wq_type = given.number<hbldv_qp_wq_types>("wqType");
    hbl.wq_granularity = given.number<hbldv_swq_granularity>("wqGranularity");
    hbl.priority = given.number<std::uint8_t>("priority");
    hbl.encap_num = given.number<std::uint8_t>("encapNum");
    hbl.coll_lag_idx = given.number<std::uint8_t>("collLagIdx");
    hbl.coll_last_in_lag = given.number<std::uint8_t>("collLastInLag");
    hbl.coll_lag_size = given.number<std::uint8_t>("collLagSize");
    constexpr std::uint64_t kSdkCaps = HBLDV_QP_CAP_SACK | HBLDV_QP_CAP_COLL | HBLDV_QP_CAP_MIGRATE;
    const bool collective = hbl.coll_lag_idx != 0 || hbl.coll_last_in_lag != 0 || hbl.coll_lag_size != 0;
    if (((hbl.caps & kSdkCaps) != 0 || collective) && !library.is_sdk()) return failure(env, EOPNOTSUPP);
  }
  const auto migrated = take_if_given<ibv_qp>(info[7]);
  if (migrated && migrated->context != qp->context) return failure(env, EINVAL);
  sdk->qp_to_migrate = migrated.get();
  const EncapShare encap = info[6].IsUndefined() ? nullptr : encap_of(info[6]);
  const int mask = number_of<int>(info[3]);
  const int error = library.hbldv_modify_qp(qp.get(), &attr, mask, has_hbl ? &hbl : nullptr);
  if (error != 0) return failure(env, error);
  core()->qp_modified(qp.object(), &attr, mask);
  if ((mask & IBV_QP_STATE) != 0 && attr.qp_state == IBV_QPS_INIT) {
    const bool large = has_hbl && hbl.wq_granularity == HBLDV_SWQE_GRAN_64B;
    const std::uint64_t port = (mask & IBV_QP_PORT) != 0 ? attr.port_num : 0;
    core()->set_qp_word(qp.object(), (large ? kEntriesOf64 : 0) | port << kPortShift);
  }
  return failure(env, keep_encap(qp.object(), encap));
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
bool send_queue_of(const Taken<ibv_qp>& qp, const hbldv_query_qp_attr& attr, SendQueue* queue) {
  const ibv_qp_state state = qp->state;
  if (!mapped(attr.swq_cpu_addr)) return false;
  if (state == IBV_QPS_RESET || state == IBV_QPS_INIT || state == IBV_QPS_RTR) return false;
  ibv_qp_cap cap{};
  core()->qp_cap(qp.object(), &cap);
  queue->memory = static_cast<std::uint8_t*>(attr.swq_cpu_addr);
  queue->entries = std::bit_ceil(std::max(1u, cap.max_send_wr));
  queue->entry_size = (core()->qp_word(qp.object()) & kEntriesOf64) != 0 ? 64 : 32;
  return readable(queue->memory, std::size_t{queue->entries} * queue->entry_size);
}

// qpPort(qp): its port, if hbldv_modify_qp has given it one, else 0
Napi::Value qp_port(const Napi::CallbackInfo& info) {
  const auto qp = take<ibv_qp>(info, 0);
  return number(info.Env(), static_cast<std::uint32_t>(core()->qp_word(qp.object()) >> kPortShift));
}

// queryQp(library, qp): { qpNum, sendQueue?: { entries, entrySize }, receiveQueueMapped } | -errno
Napi::Value query_qp(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  const auto qp = take<ibv_qp>(info, 1);
  Filled<hbldv_query_qp_attr> filled;
  const int error = filled.after(library.hbldv_query_qp(qp.get(), filled.get()));
  if (error != 0) return failure(env, error);
  const hbldv_query_qp_attr& attr = *filled;
  Napi::Object result = Napi::Object::New(env);
  result.Set("qpNum", attr.qp_num);
  if (SendQueue queue{}; send_queue_of(qp, attr, &queue)) {
    Napi::Object described = Napi::Object::New(env);
    described.Set("entries", queue.entries);
    described.Set("entrySize", queue.entry_size);
    result.Set("sendQueue", described);
  }
  result.Set("receiveQueueMapped", mapped(attr.rwq_cpu_addr));
  return result;
}

// writeSendQueue(library, qp, index, bytes, entries, entrySize): 0 | -errno. Into the slot of that index, whose other
// bytes become zero: they are of an earlier entry. The queue that JavaScript describes must be the one that is mapped
// now: EINVAL. ERANGE: more bytes than an entry has.
Napi::Value write_send_queue(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  const auto qp = take<ibv_qp>(info, 1);
  Filled<hbldv_query_qp_attr> filled;
  const int error = filled.after(library.hbldv_query_qp(qp.get(), filled.get()));
  if (error != 0) return failure(env, error);
  const hbldv_query_qp_attr& attr = *filled;
  SendQueue queue{};
  if (!send_queue_of(qp, attr, &queue)) return failure(env, EINVAL);
  if (number_of<std::int64_t>(info[4]) != queue.entries || number_of<std::int64_t>(info[5]) != queue.entry_size) {
    return failure(env, EINVAL);
  }
  const Bytes bytes = bytes_of(info[3]);
  if (bytes.size > queue.entry_size) return failure(env, ERANGE);
  const std::uint64_t slot = number_of<std::uint64_t>(info[2]) % queue.entries;
  std::uint8_t* entry = queue.memory + slot * queue.entry_size;
  if (bytes.data) std::memcpy(entry, bytes.data, bytes.size);
  std::memset(entry + bytes.size, 0, queue.entry_size - bytes.size);
  return failure(env, 0);
}

}  // namespace

void init_queues(Napi::Object exports) {
  export_function<create_cq>(exports, "createCq");
  export_function<query_cq>(exports, "queryCq");
  export_function<read_cq>(exports, "readCq");
  export_function<modify_qp>(exports, "modifyQp");
  export_function<qp_port>(exports, "qpPort");
  export_function<query_qp>(exports, "queryQp");
  export_function<write_send_queue>(exports, "writeSendQueue");
}

}  // namespace verbs::hbl::binding
