// The state machine's table, against the text of the kernel's: every attribute of every change of state of every type.
#include <doctest/doctest.h>

#include <cerrno>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "nic/verbs/qp_transitions.h"

using verbs::soft::nic::applicable_attributes;
using verbs::soft::nic::check_transition;

namespace {

const std::map<std::string, ibv_qp_type> kTypes = {{"RC", IBV_QPT_RC},        {"UC", IBV_QPT_UC},
                                                   {"UD", IBV_QPT_UD},        {"RAW", IBV_QPT_RAW_PACKET},
                                                   {"INI", IBV_QPT_XRC_SEND}, {"TGT", IBV_QPT_XRC_RECV}};

const std::map<std::string, ibv_qp_state> kStates = {
    {"RESET", IBV_QPS_RESET}, {"INIT", IBV_QPS_INIT}, {"RTR", IBV_QPS_RTR}, {"RTS", IBV_QPS_RTS},
    {"SQD", IBV_QPS_SQD},     {"SQE", IBV_QPS_SQE},   {"ERR", IBV_QPS_ERR}};

const std::map<std::string, int> kBits = {{"cur", IBV_QP_CUR_STATE},
                                          {"notify", IBV_QP_EN_SQD_ASYNC_NOTIFY},
                                          {"access", IBV_QP_ACCESS_FLAGS},
                                          {"pkey", IBV_QP_PKEY_INDEX},
                                          {"port", IBV_QP_PORT},
                                          {"qkey", IBV_QP_QKEY},
                                          {"av", IBV_QP_AV},
                                          {"mtu", IBV_QP_PATH_MTU},
                                          {"timeout", IBV_QP_TIMEOUT},
                                          {"retry", IBV_QP_RETRY_CNT},
                                          {"rnr", IBV_QP_RNR_RETRY},
                                          {"rqpsn", IBV_QP_RQ_PSN},
                                          {"rdatomic", IBV_QP_MAX_QP_RD_ATOMIC},
                                          {"alt", IBV_QP_ALT_PATH},
                                          {"minrnr", IBV_QP_MIN_RNR_TIMER},
                                          {"sqpsn", IBV_QP_SQ_PSN},
                                          {"dest_rdatomic", IBV_QP_MAX_DEST_RD_ATOMIC},
                                          {"mig", IBV_QP_PATH_MIG_STATE},
                                          {"cap", IBV_QP_CAP},
                                          {"dest", IBV_QP_DEST_QPN},
                                          {"rate", IBV_QP_RATE_LIMIT}};

// from to type : required : optional
constexpr const char* kTable = R"(
RESET RESET * : :
RESET INIT RC : pkey port access :
RESET INIT UC : pkey port access :
RESET INIT UD : pkey port qkey :
RESET INIT RAW : port :
RESET INIT INI : pkey port access :
RESET INIT TGT : pkey port access :
INIT RESET * : :
INIT ERR * : :
INIT INIT RC : : pkey port access
INIT INIT UC : : pkey port access
INIT INIT UD : : pkey port qkey
INIT INIT RAW : :
INIT INIT INI : : pkey port access
INIT INIT TGT : : pkey port access
INIT RTR RC : av mtu dest rqpsn dest_rdatomic minrnr : alt access pkey
INIT RTR UC : av mtu dest rqpsn : alt access pkey
INIT RTR UD : : pkey qkey
INIT RTR RAW : :
INIT RTR INI : av mtu dest rqpsn : alt access pkey
INIT RTR TGT : av mtu dest rqpsn dest_rdatomic minrnr : alt access pkey
RTR RESET * : :
RTR ERR * : :
RTR RTS RC : timeout retry rnr sqpsn rdatomic : cur alt access minrnr mig
RTR RTS UC : sqpsn : cur alt access mig
RTR RTS UD : sqpsn : cur qkey
RTR RTS RAW : : rate
RTR RTS INI : timeout retry rnr sqpsn rdatomic : cur alt access mig
RTR RTS TGT : timeout sqpsn : cur alt access minrnr mig
RTS RESET * : :
RTS ERR * : :
RTS RTS RC : : cur access alt mig minrnr
RTS RTS UC : : cur access alt mig
RTS RTS UD : : cur qkey
RTS RTS RAW : : rate
RTS RTS INI : : cur access alt mig
RTS RTS TGT : : cur access alt mig minrnr
RTS SQD RC : : notify
RTS SQD UC : : notify
RTS SQD UD : : notify
RTS SQD RAW : :
RTS SQD INI : : notify
RTS SQD TGT : : notify
SQD RESET * : :
SQD ERR * : :
SQD RTS RC : : cur alt access minrnr mig
SQD RTS UC : : cur alt access mig
SQD RTS UD : : cur qkey
SQD RTS RAW : :
SQD RTS INI : : cur alt access mig
SQD RTS TGT : : cur alt access minrnr mig
SQD SQD RC : : port av timeout retry rnr rdatomic dest_rdatomic alt access pkey minrnr mig
SQD SQD UC : : av alt access pkey mig
SQD SQD UD : : pkey qkey
SQD SQD RAW : :
SQD SQD INI : : port av timeout retry rnr rdatomic alt access pkey mig
SQD SQD TGT : : port av timeout dest_rdatomic alt access pkey minrnr mig
SQE RESET * : :
SQE ERR * : :
SQE RTS RC : :
SQE RTS UC : : cur access
SQE RTS UD : : cur qkey
SQE RTS RAW : :
SQE RTS INI : :
SQE RTS TGT : :
ERR RESET * : :
ERR ERR * : :
)";

struct Row {
  int required = 0;
  int optional = 0;
};

using Key = std::vector<int>;  // type, from, to

std::map<Key, Row> read_table() {
  std::map<Key, Row> rows;
  std::istringstream lines(kTable);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string from, to, type, word;
    if (!(words >> from >> to >> type)) continue;
    Row row;
    int column = 0;
    while (words >> word) {
      if (word == ":") {
        ++column;
      } else {
        (column == 1 ? row.required : row.optional) |= kBits.at(word);
      }
    }
    REQUIRE(column == 2);
    for (const auto& [name, value] : kTypes) {
      if (type == "*" || type == name) rows[{value, kStates.at(from), kStates.at(to)}] = row;
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("every transition allows the attributes that the kernel allows, and no others") {
  const std::map<Key, Row> table = read_table();
  int accepted = 0;
  int refused = 0;
  const auto expect = [&](const Key& key, int mask, int error) {
    ++(error == 0 ? accepted : refused);
    const int got = check_transition(static_cast<ibv_qp_type>(key[0]), static_cast<ibv_qp_state>(key[1]),
                                     static_cast<ibv_qp_state>(key[2]), mask);
    CHECK_MESSAGE(got == error, "type ", key[0], " from ", key[1], " to ", key[2], " mask ", mask);
  };
  for (const auto& [type_name, type] : kTypes) {
    for (const auto& [from_name, from] : kStates) {
      for (const auto& [to_name, to] : kStates) {
        const Key key = {type, from, to};
        const auto found = table.find(key);
        if (found == table.end()) {
          expect(key, IBV_QP_STATE, EINVAL);
          continue;
        }
        const Row& row = found->second;
        const int all = IBV_QP_STATE | row.required | row.optional;
        expect(key, IBV_QP_STATE | row.required, 0);
        expect(key, all, 0);
        for (const auto& [bit_name, bit] : kBits) {
          if ((row.required & bit) != 0) {
            expect(key, all & ~bit, EINVAL);
          } else if ((row.optional & bit) != 0) {
            expect(key, IBV_QP_STATE | row.required | bit, 0);
          } else {
            expect(key, IBV_QP_STATE | row.required | bit, EINVAL);
            expect(key, all | bit, EINVAL);
          }
        }
      }
    }
  }
  CHECK(accepted > 300);
  CHECK(refused > 3000);
}

TEST_CASE("the attributes of the other half of an XRC connection are dropped, and no others") {
  const int answers = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  const int requests = IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY;
  CHECK(applicable_attributes(IBV_QPT_XRC_SEND, ~0) == ~answers);
  CHECK(applicable_attributes(IBV_QPT_XRC_RECV, ~0) == ~requests);
  CHECK(applicable_attributes(IBV_QPT_RC, ~0) == ~0);
  CHECK(applicable_attributes(IBV_QPT_UD, ~0) == ~0);
}

TEST_CASE("a type that is none has no states") {
  for (const int type : {0, 1, 5, 7, 11, 0xff}) {
    CHECK(check_transition(static_cast<ibv_qp_type>(type), IBV_QPS_RESET, IBV_QPS_RESET, IBV_QP_STATE) == EINVAL);
  }
}
