#include "binding/qp/qp_attributes.h"

#include "binding/device/gid.h"

namespace verbs::core {
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

ibv_qp_cap read_cap(Napi::Object object) {
  const auto number = [&](const char* name) { return object.Get(name).As<Napi::Number>().Uint32Value(); };
  ibv_qp_cap cap{};
  cap.max_send_wr = number("maxSendWr");
  cap.max_recv_wr = number("maxRecvWr");
  cap.max_send_sge = number("maxSendSge");
  cap.max_recv_sge = number("maxRecvSge");
  cap.max_inline_data = number("maxInlineData");
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

ibv_qp_attr read_qp_attr(Napi::Object object) {
  ibv_qp_attr attr{};
  visit_fields(attr, [&]<typename T>(const char* name, T& field) {
    const Napi::Value value = object.Get(name);
    if (!value.IsUndefined()) field = static_cast<T>(value.As<Napi::Number>().Uint32Value());
  });
  if (const Napi::Value cap = object.Get("cap"); cap.IsObject()) attr.cap = read_cap(cap.As<Napi::Object>());
  if (const Napi::Value ah = object.Get("ahAttr"); ah.IsObject()) attr.ah_attr = read_ah_attr(ah.As<Napi::Object>());
  if (const Napi::Value ah = object.Get("altAhAttr"); ah.IsObject()) {
    attr.alt_ah_attr = read_ah_attr(ah.As<Napi::Object>());
  }
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
