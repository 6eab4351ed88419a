#include "binding/device/query.h"

#include <arpa/inet.h>
#include <endian.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <vector>

#include "binding/device/gid.h"
#include "binding/lifetime/handle.h"

namespace verbs::core {

int query_port(const Context& context, std::uint8_t port, Filled<ibv_port_attr>* attr) {
  constexpr std::size_t kSize = std::max(sizeof(ibv_port_attr), kActiveSpeedEx + sizeof(std::uint32_t));
  verbs_context* slots = verbs_get_ctx_op(context.ctx(), query_port);
  // The exported function fills the shorter structure of older programs. The other fields stay zero.
  return attr->after(slots != nullptr ? slots->query_port(context.ctx(), port, attr->get(), kSize)
                                      : context.functions().query_port(context.ctx(), port, attr->get()));
}

namespace {

Napi::Object write_device(Napi::Env env, const ibv_device_attr& attr) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("fwVer", Napi::String::New(env, attr.fw_ver, strnlen(attr.fw_ver, sizeof attr.fw_ver)));
  object.Set("nodeGuid", big(env, be64toh(attr.node_guid)));
  object.Set("sysImageGuid", big(env, be64toh(attr.sys_image_guid)));
  object.Set("maxMrSize", big(env, attr.max_mr_size));
  object.Set("pageSizeCap", big(env, attr.page_size_cap));
  object.Set("vendorId", attr.vendor_id);
  object.Set("vendorPartId", attr.vendor_part_id);
  object.Set("hwVer", attr.hw_ver);
  object.Set("maxQp", attr.max_qp);
  object.Set("maxQpWr", attr.max_qp_wr);
  object.Set("deviceCapFlags", attr.device_cap_flags);
  object.Set("maxSge", attr.max_sge);
  object.Set("maxSgeRd", attr.max_sge_rd);
  object.Set("maxCq", attr.max_cq);
  object.Set("maxCqe", attr.max_cqe);
  object.Set("maxMr", attr.max_mr);
  object.Set("maxPd", attr.max_pd);
  object.Set("maxQpRdAtom", attr.max_qp_rd_atom);
  object.Set("maxEeRdAtom", attr.max_ee_rd_atom);
  object.Set("maxResRdAtom", attr.max_res_rd_atom);
  object.Set("maxQpInitRdAtom", attr.max_qp_init_rd_atom);
  object.Set("maxEeInitRdAtom", attr.max_ee_init_rd_atom);
  object.Set("atomicCap", static_cast<int>(attr.atomic_cap));
  object.Set("maxEe", attr.max_ee);
  object.Set("maxRdd", attr.max_rdd);
  object.Set("maxMw", attr.max_mw);
  object.Set("maxRawIpv6Qp", attr.max_raw_ipv6_qp);
  object.Set("maxRawEthyQp", attr.max_raw_ethy_qp);
  object.Set("maxMcastGrp", attr.max_mcast_grp);
  object.Set("maxMcastQpAttach", attr.max_mcast_qp_attach);
  object.Set("maxTotalMcastQpAttach", attr.max_total_mcast_qp_attach);
  object.Set("maxAh", attr.max_ah);
  object.Set("maxFmr", attr.max_fmr);
  object.Set("maxMapPerFmr", attr.max_map_per_fmr);
  object.Set("maxSrq", attr.max_srq);
  object.Set("maxSrqWr", attr.max_srq_wr);
  object.Set("maxSrqSge", attr.max_srq_sge);
  object.Set("maxPkeys", attr.max_pkeys);
  object.Set("localCaAckDelay", attr.local_ca_ack_delay);
  object.Set("physPortCnt", attr.phys_port_cnt);
  return object;
}

// queryDevice(context): the attributes | -errno
Napi::Value query_device(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  Filled<ibv_device_attr> attr;
  if (const int error = attr.after(context->functions().query_device(context->ctx(), attr.get())); error != 0) {
    return failure(info.Env(), error);
  }
  return write_device(info.Env(), *attr);
}

// queryDeviceEx(context): the extended attributes | -errno. Without the extended call they are zero, as in C.
Napi::Value query_device_ex(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto context = take<Context>(info, 0);
  Filled<ibv_device_attr_ex> filled;
  int error = EOPNOTSUPP;
  if (verbs_context* slots = verbs_get_ctx_op(context->ctx(), query_device_ex); slots != nullptr) {
    error = slots->query_device_ex(context->ctx(), nullptr, filled.get(), sizeof *filled);
  }
  if (error == EOPNOTSUPP || error == ENOSYS) {
    filled = {};
    error = context->functions().query_device(context->ctx(), &filled->orig_attr);
  }
  error = filled.after(error);
  if (error != 0) return failure(env, error);
  const ibv_device_attr_ex& attr = *filled;
  Napi::Object object = write_device(env, attr.orig_attr);
  const auto nested = [&](const char* name) {
    Napi::Object inner = Napi::Object::New(env);
    object.Set(name, inner);
    return inner;
  };
  Napi::Object odp = nested("odpCaps");
  odp.Set("generalCaps", big(env, attr.odp_caps.general_caps));
  odp.Set("rcOdpCaps", attr.odp_caps.per_transport_caps.rc_odp_caps);
  odp.Set("ucOdpCaps", attr.odp_caps.per_transport_caps.uc_odp_caps);
  odp.Set("udOdpCaps", attr.odp_caps.per_transport_caps.ud_odp_caps);
  odp.Set("xrcOdpCaps", attr.xrc_odp_caps);
  object.Set("completionTimestampMask", big(env, attr.completion_timestamp_mask));
  object.Set("hcaCoreClock", big(env, attr.hca_core_clock));
  object.Set("deviceCapFlagsEx", big(env, attr.device_cap_flags_ex));
  Napi::Object tso = nested("tsoCaps");
  tso.Set("maxTso", attr.tso_caps.max_tso);
  tso.Set("supportedQpts", attr.tso_caps.supported_qpts);
  Napi::Object rss = nested("rssCaps");
  rss.Set("supportedQpts", attr.rss_caps.supported_qpts);
  rss.Set("maxRwqIndirectionTables", attr.rss_caps.max_rwq_indirection_tables);
  rss.Set("maxRwqIndirectionTableSize", attr.rss_caps.max_rwq_indirection_table_size);
  rss.Set("rxHashFieldsMask", big(env, attr.rss_caps.rx_hash_fields_mask));
  rss.Set("rxHashFunction", static_cast<int>(attr.rss_caps.rx_hash_function));
  object.Set("maxWqTypeRq", attr.max_wq_type_rq);
  Napi::Object pacing = nested("packetPacingCaps");
  pacing.Set("qpRateLimitMin", attr.packet_pacing_caps.qp_rate_limit_min);
  pacing.Set("qpRateLimitMax", attr.packet_pacing_caps.qp_rate_limit_max);
  pacing.Set("supportedQpts", attr.packet_pacing_caps.supported_qpts);
  object.Set("rawPacketCaps", attr.raw_packet_caps);
  Napi::Object tm = nested("tmCaps");
  tm.Set("maxRndvHdrSize", attr.tm_caps.max_rndv_hdr_size);
  tm.Set("maxNumTags", attr.tm_caps.max_num_tags);
  tm.Set("flags", attr.tm_caps.flags);
  tm.Set("maxOps", attr.tm_caps.max_ops);
  tm.Set("maxSge", attr.tm_caps.max_sge);
  Napi::Object moderation = nested("cqModCaps");
  moderation.Set("maxCqCount", static_cast<int>(attr.cq_mod_caps.max_cq_count));
  moderation.Set("maxCqPeriod", static_cast<int>(attr.cq_mod_caps.max_cq_period));
  object.Set("maxDmSize", big(env, attr.max_dm_size));
  Napi::Object atomic = nested("pciAtomicCaps");
  atomic.Set("fetchAdd", static_cast<int>(attr.pci_atomic_caps.fetch_add));
  atomic.Set("swap", static_cast<int>(attr.pci_atomic_caps.swap));
  atomic.Set("compareSwap", static_cast<int>(attr.pci_atomic_caps.compare_swap));
  object.Set("physPortCntEx", attr.phys_port_cnt_ex);
  return object;
}

// queryPort(context, portNum): the attributes | -errno
Napi::Value port_attributes(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto context = take<Context>(info, 0);
  const auto port = number_of<std::uint8_t>(info[1]);
  Filled<ibv_port_attr> filled;
  if (const int error = query_port(*context, port, &filled); error != 0) return failure(env, error);
  const ibv_port_attr& attr = *filled;
  Napi::Object object = Napi::Object::New(env);
  object.Set("state", static_cast<int>(attr.state));
  object.Set("maxMtu", static_cast<int>(attr.max_mtu));
  object.Set("activeMtu", static_cast<int>(attr.active_mtu));
  object.Set("gidTblLen", attr.gid_tbl_len);
  object.Set("portCapFlags", attr.port_cap_flags);
  object.Set("maxMsgSz", attr.max_msg_sz);
  object.Set("badPkeyCntr", attr.bad_pkey_cntr);
  object.Set("qkeyViolCntr", attr.qkey_viol_cntr);
  object.Set("pkeyTblLen", static_cast<int>(attr.pkey_tbl_len));
  object.Set("lid", static_cast<int>(attr.lid));
  object.Set("smLid", static_cast<int>(attr.sm_lid));
  object.Set("lmc", static_cast<int>(attr.lmc));
  object.Set("maxVlNum", static_cast<int>(attr.max_vl_num));
  object.Set("smSl", static_cast<int>(attr.sm_sl));
  object.Set("subnetTimeout", static_cast<int>(attr.subnet_timeout));
  object.Set("initTypeReply", static_cast<int>(attr.init_type_reply));
  object.Set("activeWidth", static_cast<int>(attr.active_width));
  object.Set("activeSpeed", static_cast<int>(attr.active_speed));
  object.Set("activeSpeedEx", filled.later<std::uint32_t>(kActiveSpeedEx));
  object.Set("physState", static_cast<int>(attr.phys_state));
  object.Set("linkLayer", static_cast<int>(attr.link_layer));
  object.Set("flags", static_cast<int>(attr.flags));
  object.Set("portCapFlags2", static_cast<int>(attr.port_cap_flags2));
  return object;
}

// softWhy(context, qpNum, status): a sentence | undefined
Napi::Value soft_why(const Napi::CallbackInfo& info) {
  constexpr std::size_t kRoom = 1024;
  const Napi::Env env = info.Env();
  const auto context = take<Context>(info, 0);
  const auto why = context->functions().soft_why;
  char text[kRoom] = "";
  if (why == nullptr ||
      why(context->ctx(), number_of<std::uint32_t>(info[1]), number_of<int>(info[2]), text, sizeof text) != 0) {
    return env.Undefined();
  }
  return Napi::String::New(env, text);
}

// queryGid(context, portNum, index): 16 bytes | -errno
Napi::Value query_gid(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  const auto port = number_of<std::uint8_t>(info[1]);
  const int index = number_of<int>(info[2]);
  ibv_gid gid{};
  errno = 0;
  // The C call returns only -1.
  if (context->functions().query_gid(context->ctx(), port, index, &gid) != 0) {
    return failure(info.Env(), creation_error());
  }
  return write_gid(info.Env(), gid);
}

// queryPkey(context, portNum, index): number in host order | -errno
Napi::Value query_pkey(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  const auto port = number_of<std::uint8_t>(info[1]);
  const int index = number_of<int>(info[2]);
  __be16 pkey = 0;
  errno = 0;
  if (context->functions().query_pkey(context->ctx(), port, index, &pkey) != 0) {
    return failure(info.Env(), creation_error());
  }
  return Napi::Number::New(info.Env(), ntohs(pkey));
}

Napi::Object write_gid_entry(Napi::Env env, const ibv_gid_entry& entry) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("gid", write_gid(env, entry.gid));
  object.Set("gidIndex", entry.gid_index);
  object.Set("portNum", entry.port_num);
  object.Set("gidType", entry.gid_type);
  object.Set("ndevIfindex", entry.ndev_ifindex);
  return object;
}

// queryGidTable(context, room): { gid, gidIndex, portNum, gidType, ndevIfindex }[] | -errno
Napi::Value query_gid_table(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto context = take<Context>(info, 0);
  if (context->functions().query_gid_table == nullptr) return failure(env, EOPNOTSUPP);
  const std::uint32_t room = number_of<std::uint32_t>(info[1]);
  // Far above the size of any table, and far below the size of memory.
  if (room > 1u << 20) return failure(env, EINVAL);
  std::vector<ibv_gid_entry> entries(room);
  const ssize_t count =
      context->functions().query_gid_table(context->ctx(), entries.data(), entries.size(), 0, sizeof(ibv_gid_entry));
  if (count < 0) return failure(env, static_cast<int>(-count));
  if (static_cast<std::size_t>(count) > entries.size()) return failure(env, EIO);
  Napi::Array result = Napi::Array::New(env, static_cast<std::size_t>(count));
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(count); i++) {
    result.Set(i, write_gid_entry(env, entries[i]));
  }
  return result;
}

// queryGidEx(context, portNum, index): as an entry of the table | -errno
Napi::Value query_gid_ex(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto context = take<Context>(info, 0);
  if (context->functions().query_gid_ex == nullptr) return failure(env, EOPNOTSUPP);
  ibv_gid_entry entry{};
  const int error = context->functions().query_gid_ex(context->ctx(), number_of<std::uint32_t>(info[1]),
                                                      number_of<std::uint32_t>(info[2]), &entry, 0, sizeof entry);
  return error != 0 ? failure(env, error < 0 ? -error : error) : Napi::Value(write_gid_entry(env, entry));
}

// getPkeyIndex(context, portNum, pkey): the index | -errno. The key in host order.
Napi::Value get_pkey_index(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  if (context->functions().get_pkey_index == nullptr) return failure(info.Env(), EOPNOTSUPP);
  const auto port = number_of<std::uint8_t>(info[1]);
  const auto pkey = number_of<std::uint16_t>(info[2]);
  errno = 0;
  const int index = context->functions().get_pkey_index(context->ctx(), port, htons(pkey));
  return index < 0 ? failure(info.Env(), errno == 0 ? ENOENT : errno) : number(info.Env(), index);
}

// queryRtValues(context): the device's clock in ticks, a bigint | -errno
Napi::Value query_rt_values(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  Filled<ibv_values_ex> values;
  values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
  if (const int error = values.after(ibv_query_rt_values_ex(context->ctx(), values.get())); error != 0) {
    return failure(info.Env(), error < 0 ? -error : error);
  }
  // The clock's two parts are seconds and nanoseconds only by their names: providers put ticks in the second.
  return big(info.Env(), static_cast<std::uint64_t>(values->raw_clock.tv_sec) * 1000000000u +
                             static_cast<std::uint64_t>(values->raw_clock.tv_nsec));
}

// queryPortSpeed(context, portNum): 100 Mbit/s each, a bigint | -errno
Napi::Value query_port_speed(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  const auto query = context->functions().query_port_speed;
  std::uint64_t speed = 0;
  errno = 0;
  const int error = query == nullptr ? EOPNOTSUPP : query(context->ctx(), number_of<std::uint32_t>(info[1]), &speed);
  if (error != 0) return failure(info.Env(), error > 0 ? error : creation_error());
  return big(info.Env(), speed);
}

// numCompVectors(context): ibv_context.num_comp_vectors
Napi::Value num_comp_vectors(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), take<Context>(info, 0)->ctx()->num_comp_vectors);
}

}  // namespace

void init_query(Napi::Object exports) {
  export_function<query_device>(exports, "queryDevice");
  export_function<query_device_ex>(exports, "queryDeviceEx");
  export_function<port_attributes>(exports, "queryPort");
  export_function<soft_why>(exports, "softWhy");
  export_function<query_gid>(exports, "queryGid");
  export_function<query_pkey>(exports, "queryPkey");
  export_function<query_gid_table>(exports, "queryGidTable");
  export_function<query_gid_ex>(exports, "queryGidEx");
  export_function<get_pkey_index>(exports, "getPkeyIndex");
  export_function<query_rt_values>(exports, "queryRtValues");
  export_function<query_port_speed>(exports, "queryPortSpeed");
  export_function<num_comp_vectors>(exports, "numCompVectors");
}

}  // namespace verbs::core
