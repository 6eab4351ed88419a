#include "binding/qp/qp_creation.h"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "binding/device/gid.h"
#include "binding/lifetime/handle.h"
#include "binding/qp/queue_pair.h"
#include "binding/qp/receive_work_queue.h"

namespace verbs::core {
namespace {

// The objects of the call, which are read before its other attributes.
using HeldObjects = std::vector<Taken<Object>>;

// An optional object of `given`, by its field.
template <typename T>
std::shared_ptr<T> object_field(const Fields& given, const char* name, HeldObjects& held) {
  const Napi::Value value = given[name];
  if (value.IsUndefined()) return nullptr;
  std::shared_ptr<T> object = take<T>(value.Env(), value);
  held.emplace_back(object);
  return object;
}

QueuePair::Parts read_parts(const Fields& given, HeldObjects& held) {
  QueuePair::Parts parts;
  parts.pd = object_field<ProtectionDomain>(given, "pd", held);
  parts.send_cq = object_field<CompletionQueue>(given, "sendCq", held);
  parts.recv_cq = object_field<CompletionQueue>(given, "recvCq", held);
  parts.srq = object_field<SharedReceiveQueue>(given, "srq", held);
  parts.xrcd = object_field<XrcDomain>(given, "xrcd", held);
  return parts;
}

// A provider casts the objects of a call to its own structures, so all of them must be of one context.
bool one_context(const QueuePair::Parts& parts) {
  if (parts.pd == nullptr && parts.xrcd == nullptr) return false;
  const auto same = [&](const std::shared_ptr<Object>& object) {
    return object == nullptr || &object->context() == &parts.context();
  };
  return same(parts.pd) && same(parts.send_cq) && same(parts.recv_cq) && same(parts.srq) && same(parts.xrcd) &&
         std::all_of(parts.others.begin(), parts.others.end(), same);
}

// Some providers leave a value that they do not round up at zero.
ibv_qp_cap larger(ibv_qp_cap made, const ibv_qp_cap& asked) {
  made.max_send_wr = std::max(made.max_send_wr, asked.max_send_wr);
  made.max_recv_wr = std::max(made.max_recv_wr, asked.max_recv_wr);
  made.max_send_sge = std::max(made.max_send_sge, asked.max_send_sge);
  made.max_recv_sge = std::max(made.max_recv_sge, asked.max_recv_sge);
  return made;
}

Napi::Value created(Napi::Env env, std::uintptr_t id, QueuePair::Parts parts, ibv_qp* qp, const ExtendedCalls& extended,
                    const ibv_qp_cap& cap) {
  const VendorMake maker = parts.maker;
  const auto destroy_qp = parts.context().functions().destroy_qp;
  const auto undo = [&] { maker.destroy == nullptr ? destroy_qp(qp) : maker.destroy(maker.data, qp); };
  const auto pair = own_or<QueuePair>(undo, std::move(parts), qp, extended, cap);
  Napi::Object result = Napi::Object::New(env);
  result.Set("id", static_cast<double>(id));
  result.Set("qpNum", qp->qp_num);
  result.Set("cap", write_cap(env, cap));
  result.Set("handle", wrap_object(env, pair));
  return result;
}

// The extended attributes of the call. Without any, `mask` is 0, and the plain C function is enough.
struct Extended {
  std::uint32_t mask = 0;
  std::uint32_t create_flags = 0;
  std::uint32_t max_tso_header = 0;
  std::uint32_t source_qpn = 0;
  std::uint64_t send_ops_flags = 0;
  std::shared_ptr<IndirectionTable> table;
  ibv_rx_hash_conf hash{};
  std::vector<std::uint8_t> hash_key;
};

Extended read_extended(const Fields& given, HeldObjects& held) {
  Extended extended;
  const auto number = [&](const char* name, std::uint32_t bit, std::uint32_t* field) {
    const Napi::Value value = given[name];
    if (value.IsUndefined()) return;
    *field = number_of<std::uint32_t>(value);
    extended.mask |= bit;
  };
  number("createFlags", IBV_QP_INIT_ATTR_CREATE_FLAGS, &extended.create_flags);
  number("maxTsoHeader", IBV_QP_INIT_ATTR_MAX_TSO_HEADER, &extended.max_tso_header);
  if (const Napi::Value flags = given["sendOpsFlags"]; !flags.IsUndefined()) {
    extended.send_ops_flags = u64_of(flags);
    extended.mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  }
  number("sourceQpn", 0, &extended.source_qpn);
  if (const Napi::Value hash = given["rxHashConf"]; !hash.IsUndefined()) {
    const Fields conf(hash);
    // A copy: a getter that is read later may take the buffer's memory away.
    const Bytes key = conf.bytes("key");
    extended.hash_key.assign(key.data, key.data + std::min<std::size_t>(key.size, UINT8_MAX));
    extended.hash.rx_hash_function = conf.number<std::uint8_t>("function");
    extended.hash.rx_hash_key_len = static_cast<std::uint8_t>(extended.hash_key.size());
    extended.hash.rx_hash_fields_mask = conf.u64("fields");
    extended.mask |= IBV_QP_INIT_ATTR_RX_HASH;
  }
  extended.table = object_field<IndirectionTable>(given, "rwqIndTbl", held);
  if (extended.table != nullptr) extended.mask |= IBV_QP_INIT_ATTR_IND_TABLE;
  return extended;
}

// createQp({ pd?, sendCq?, recvCq?, srq?, xrcd?, qpType, sqSigAll, cap, and those of ibv_qp_init_attr_ex }):
// { handle, id, qpNum, cap } | -errno. `id` is its name in events.
Napi::Value create_qp_by(Napi::Env env, const Fields& given, const VendorMake* vendor,
                         const std::shared_ptr<Object>& parent) {
  HeldObjects held;
  QueuePair::Parts parts = read_parts(given, held);
  Extended extended = read_extended(given, held);
  if (extended.table != nullptr) parts.others.push_back(extended.table);
  if (!one_context(parts)) return failure(env, EINVAL);
  if (parent != nullptr) parts.others.push_back(parent);
  if (vendor != nullptr) parts.maker = *vendor;
  const Context& context = parts.context();
  const std::uintptr_t id = context.environment().next_id++;
  ibv_qp_init_attr_ex init{};
  init.qp_context = reinterpret_cast<void*>(id);
  if (parts.send_cq != nullptr) init.send_cq = parts.send_cq->cq();
  if (parts.recv_cq != nullptr) init.recv_cq = parts.recv_cq->cq();
  if (parts.srq != nullptr) init.srq = parts.srq->srq();
  init.qp_type = given.number<ibv_qp_type>("qpType");
  init.sq_sig_all = given.flag("sqSigAll") ? 1 : 0;
  init.cap = read_cap(Fields(given["cap"]));
  const ibv_qp_cap asked = init.cap;
  if (!can_queue(asked.max_send_wr, asked.max_send_sge) || !can_queue(asked.max_recv_wr, asked.max_recv_sge)) {
    return failure(env, EINVAL);
  }
  ibv_qp* qp = nullptr;
  ExtendedCalls builders;
  errno = 0;
  if (extended.mask == 0 && parts.xrcd == nullptr && vendor == nullptr) {
    // The shorter structure is the longer one's beginning.
    qp = context.functions().create_qp(parts.pd->pd(), reinterpret_cast<ibv_qp_init_attr*>(&init));
  } else if (verbs_context* slots = verbs_get_ctx_op(context.ctx(), create_qp_ex);
             slots != nullptr || vendor != nullptr) {
    init.comp_mask = extended.mask;
    if (parts.pd != nullptr) init.comp_mask |= IBV_QP_INIT_ATTR_PD;
    if (parts.pd != nullptr) init.pd = parts.pd->pd();
    if (parts.xrcd != nullptr) init.comp_mask |= IBV_QP_INIT_ATTR_XRCD;
    if (parts.xrcd != nullptr) init.xrcd = parts.xrcd->get();
    if (extended.table != nullptr) init.rwq_ind_tbl = extended.table->get();
    init.create_flags = extended.create_flags;
    init.max_tso_header = static_cast<std::uint16_t>(extended.max_tso_header);
    init.source_qpn = extended.source_qpn;
    init.send_ops_flags = extended.send_ops_flags;
    init.rx_hash_conf = extended.hash;
    init.rx_hash_conf.rx_hash_key = extended.hash_key.data();
    qp = vendor != nullptr ? (*vendor).operator()<ibv_qp>(context.ctx(), &init)
                           : slots->create_qp_ex(context.ctx(), &init);
    const auto to_extended = context.functions().qp_to_qp_ex;
    const bool wanted = (extended.mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
    if (qp != nullptr && wanted && to_extended != nullptr) builders.qp = to_extended(qp);
    builders.operations = builders.qp != nullptr ? extended.send_ops_flags : 0;
  } else {
    errno = EOPNOTSUPP;
  }
  if (qp == nullptr) return failure(env, creation_error());
  // Known by its number in events, also where a vendor's function leaves it out.
  qp->qp_context = init.qp_context;
  return created(env, id, std::move(parts), qp, builders, larger(init.cap, asked));
}

Napi::Value create_qp(const Napi::CallbackInfo& info) {
  return create_qp_by(info.Env(), Fields(info[0]), nullptr, nullptr);
}

// openQp(xrcd, qpNum, qpType): { handle, id, qpNum, cap } | -errno
Napi::Value open_qp(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  QueuePair::Parts parts;
  parts.xrcd = take<XrcDomain>(info, 0);
  const Context& context = parts.context();
  const std::uintptr_t id = context.environment().next_id++;
  ibv_qp_open_attr attr{};
  attr.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_CONTEXT | IBV_QP_OPEN_ATTR_TYPE;
  attr.qp_num = number_of<std::uint32_t>(info[1]);
  attr.xrcd = parts.xrcd->get();
  attr.qp_context = reinterpret_cast<void*>(id);
  attr.qp_type = number_of<ibv_qp_type>(info[2]);
  errno = 0;
  ibv_qp* qp = ibv_open_qp(context.ctx(), &attr);
  if (qp == nullptr) return failure(env, creation_error());
  return created(env, id, std::move(parts), qp, {}, ibv_qp_cap{});
}

}  // namespace

Napi::Value create_qp(Napi::Env env, const napi_value* arguments, const VendorMake& vendor,
                      const std::shared_ptr<Object>& parent) {
  return create_qp_by(env, Fields(Napi::Value(env, arguments[0])), &vendor, parent);
}

void init_qp_creation(Napi::Object exports) {
  export_function<create_qp>(exports, "createQp");
  export_function<open_qp>(exports, "openQp");
}

namespace {

// Every plain field once: its name in JavaScript and its place in C.
template <typename Attr, typename Visit>
void visit_fields(Attr& attr, Visit visit) {
  visit("qpState", attr.qp_state);
  visit("curQpState", attr.cur_qp_state);
  visit("pathMtu", attr.path_mtu);
  visit("pathMigState", attr.path_mig_state);
  visit("qkey", attr.qkey);
  visit("rqPsn", attr.rq_psn);
  visit("sqPsn", attr.sq_psn);
  visit("destQpNum", attr.dest_qp_num);
  visit("qpAccessFlags", attr.qp_access_flags);
  visit("pkeyIndex", attr.pkey_index);
  visit("altPkeyIndex", attr.alt_pkey_index);
  visit("enSqdAsyncNotify", attr.en_sqd_async_notify);
  visit("sqDraining", attr.sq_draining);
  visit("maxRdAtomic", attr.max_rd_atomic);
  visit("maxDestRdAtomic", attr.max_dest_rd_atomic);
  visit("minRnrTimer", attr.min_rnr_timer);
  visit("portNum", attr.port_num);
  visit("timeout", attr.timeout);
  visit("retryCnt", attr.retry_cnt);
  visit("rnrRetry", attr.rnr_retry);
  visit("altPortNum", attr.alt_port_num);
  visit("altTimeout", attr.alt_timeout);
  visit("rateLimit", attr.rate_limit);
}

}  // namespace

ibv_qp_cap read_cap(const Fields& fields) {
  ibv_qp_cap cap{};
  cap.max_send_wr = fields.u32("maxSendWr");
  cap.max_recv_wr = fields.u32("maxRecvWr");
  cap.max_send_sge = fields.u32("maxSendSge");
  cap.max_recv_sge = fields.u32("maxRecvSge");
  cap.max_inline_data = fields.u32("maxInlineData");
  return cap;
}

Napi::Object write_cap(Napi::Env env, const ibv_qp_cap& cap) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("maxSendWr", cap.max_send_wr);
  object.Set("maxRecvWr", cap.max_recv_wr);
  object.Set("maxSendSge", cap.max_send_sge);
  object.Set("maxRecvSge", cap.max_recv_sge);
  object.Set("maxInlineData", cap.max_inline_data);
  return object;
}

ibv_qp_attr read_qp_attr(const Fields& fields) {
  ibv_qp_attr attr{};
  visit_fields(attr, [&]<typename T>(const char* name, T& field) { field = fields.number<T>(name); });
  if (const Napi::Value cap = fields["cap"]; cap.IsObject()) attr.cap = read_cap(Fields(cap));
  if (const Napi::Value ah = fields["ahAttr"]; ah.IsObject()) attr.ah_attr = read_ah_attr(Fields(ah));
  if (const Napi::Value ah = fields["altAhAttr"]; ah.IsObject()) attr.alt_ah_attr = read_ah_attr(Fields(ah));
  return attr;
}

Napi::Object write_qp_attr(Napi::Env env, const ibv_qp_attr& attr) {
  Napi::Object object = Napi::Object::New(env);
  visit_fields(attr, [&](const char* name, auto field) { object.Set(name, static_cast<std::uint32_t>(field)); });
  object.Set("cap", write_cap(env, attr.cap));
  object.Set("ahAttr", write_ah_attr(env, attr.ah_attr));
  object.Set("altAhAttr", write_ah_attr(env, attr.alt_ah_attr));
  return object;
}

}  // namespace verbs::core
