// The texts of enumerations, equal to those of libibverbs: programs print and compare them.
#include <infiniband/verbs.h>

#include <cstddef>

namespace {

template <std::size_t n>
const char* text_of(const char* const (&texts)[n], int value) {
  const bool known = value >= 0 && static_cast<std::size_t>(value) < n && texts[value];
  return known ? texts[value] : "unknown";
}

}  // namespace

extern "C" {

const char* ibv_wc_status_str(ibv_wc_status status) {
  static const char* const kTexts[] = {
      "success",
      "local length error",
      "local QP operation error",
      "local EE context operation error",
      "local protection error",
      "Work Request Flushed Error",
      "memory management operation error",
      "bad response error",
      "local access error",
      "remote invalid request error",
      "remote access error",
      "remote operation error",
      "transport retry counter exceeded",
      "RNR retry counter exceeded",
      "local RDD violation error",
      "remote invalid RD request",
      "aborted error",
      "invalid EE context number",
      "invalid EE context state",
      "fatal error",
      "response timeout error",
      "general error",
      "TM error",
      "TM software rendezvous",
  };
  return text_of(kTexts, status);
}

const char* ibv_event_type_str(ibv_event_type event) {
  static const char* const kTexts[] = {
      "CQ error",
      "local work queue catastrophic error",
      "invalid request local work queue error",
      "local access violation work queue error",
      "communication established",
      "send queue drained",
      "path migrated",
      "path migration request error",
      "local catastrophic error",
      "port active",
      "port error",
      "LID change",
      "P_Key change",
      "SM change",
      "SRQ catastrophic error",
      "SRQ limit reached",
      "last WQE reached",
      "client reregistration",
      "GID table change",
      "WQ fatal",
      "Device link speed change",
  };
  return text_of(kTexts, event);
}

const char* ibv_node_type_str(ibv_node_type type) {
  static const char* const kTexts[] = {
      nullptr,
      "InfiniBand channel adapter",
      "InfiniBand switch",
      "InfiniBand router",
      "iWARP NIC",
      "usNIC",
      "usNIC UDP",
      "unspecified",
  };
  return text_of(kTexts, type);
}

// Of rdma-core's private functions; its own programs call it.
const char* ibv_wr_opcode_str(ibv_wr_opcode opcode) {
  static const char* const kTexts[] = {
      "rdma-write",
      "rdma-write-with-imm",
      "send",
      "send-with-imm",
      "rdma-read",
      "atomic-cmp-and-swp",
      "atomic-fetch-and-add",
      "local-inv",
      "bind-mw",
      "send-with-inv",
      "tso",
      "driver1",
      nullptr,
      nullptr,
      "flush",
      "atomic-write",
  };
  return text_of(kTexts, opcode);
}

const char* ibv_port_state_str(ibv_port_state state) {
  static const char* const kTexts[] = {"no state change (NOP)", "down", "init", "armed", "active", "active defer"};
  return text_of(kTexts, state);
}

}  // extern "C"
