// Domains and tables for the tests of direct rules.
#pragma once

#include <string>
#include <vector>

#include "test/support/model/ends.h"

namespace verbs::mlx5::test {

// A domain with a table of level 1, which receives the frames with our source address.
struct Rules {
  Rules(End& its_end, mlx5dv_dr_domain_type type) : end(its_end) {
    domain = mlx5dv_dr_domain_create(end.context, type);
    REQUIRE(domain);
    root = mlx5dv_dr_table_create(domain, 0);
    table = mlx5dv_dr_table_create(domain, 1);
    root_matcher = mlx5dv_dr_matcher_create(root, 0, 1, mask);
    matcher = mlx5dv_dr_matcher_create(table, 1, 1, mask);
    to_table = mlx5dv_dr_action_create_dest_table(table);
    lead = rule(root_matcher, {to_table});
    REQUIRE(lead);
  }
  mlx5dv_dr_rule* rule(mlx5dv_dr_matcher* where, std::vector<mlx5dv_dr_action*> actions) {
    return mlx5dv_dr_rule_create(where, value, actions.size(), actions.data());
  }
  int error(std::vector<mlx5dv_dr_action*> actions) {
    errno = 0;
    mlx5dv_dr_rule* created = rule(matcher, std::move(actions));
    if (!created) return errno;
    CHECK(mlx5dv_dr_rule_destroy(created) == 0);
    return 0;
  }

  End& end;
  Parameters mask{{{0, kAllOnes}}}, value{{{0, kSmac}}};
  mlx5dv_dr_domain* domain;
  mlx5dv_dr_table *root, *table;
  mlx5dv_dr_matcher *root_matcher, *matcher;
  mlx5dv_dr_action* to_table;
  mlx5dv_dr_rule* lead;
};

inline constexpr auto kRx = MLX5DV_DR_DOMAIN_TYPE_NIC_RX;
inline constexpr auto kTx = MLX5DV_DR_DOMAIN_TYPE_NIC_TX;
inline constexpr auto kL2Decap = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2;
inline constexpr auto kL2Encap = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL;
inline constexpr auto kL3Decap = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2;
inline constexpr auto kL3Encap = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL;

inline const Bytes kMac = hex("0150561920a7 248a07a528c8 0800");
inline const Bytes kGreTeb =
    hex("0150561920a7248a07a528c80800 4500000000004000402f00000101010102020202 2000655812345678");
inline const Bytes kGreIp =
    hex("0150561920a7248a07a528c80800 4500000000004000402f00000101010102020202 2000080012345678");
inline const Bytes kGeneve =
    hex("0150561920a7248a07a528c80800 4500000000004000401100000101010102020202 000017c100000000 0000655800000200");
inline const Bytes kGeneveIp =
    hex("0150561920a7248a07a528c80800 4500000000004000401100000101010102020202 000017c100000000 0000080000000200");

inline mlx5dv_dr_action* reformat(mlx5dv_dr_domain* domain, mlx5dv_flow_action_packet_reformat_type type, Bytes data,
                                  std::uint32_t flags = 0) {
  return mlx5dv_dr_action_create_packet_reformat(domain, flags, type, data.size(),
                                                 data.empty() ? nullptr : data.data());
}

inline mlx5dv_dr_action* modify(mlx5dv_dr_domain* domain, const std::string& entries, std::uint32_t flags = 0) {
  const Bytes bytes = hex(entries);
  std::vector<__be64> words(bytes.size() / 8);
  memcpy(words.data(), bytes.data(), bytes.size());
  return mlx5dv_dr_action_create_modify_header(domain, flags, bytes.size(), words.data());
}

// Source address 88:88:88:88:88:88.
inline constexpr const char* kNewSmac = "1001 0000 88888888 1002 0010 00008888";
inline const Bytes kNewSmacBytes = {0x88, 0x88, 0x88, 0x88, 0x88, 0x88};

inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace verbs::mlx5::test
