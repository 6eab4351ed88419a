// The interface between libhbl and the kernel, from measured sizes and offsets: no distribution ships its headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace verbs::uverbs::hbl {

constexpr std::uint16_t kUsrFifo = 0x1000;
constexpr std::uint16_t kSetPortEx = 0x1001;
constexpr std::uint16_t kQueryPort = 0x1002;
constexpr std::uint16_t kEncap = 0x1004;
// Methods and attributes count from here in each object.
constexpr std::uint16_t kFirst = 0x1000;

struct GetContextIn {
  std::uint64_t ports_mask;  // 0: all
  std::int32_t core_fd;
  std::uint8_t use_dvs;  // 0: a default open
  std::uint8_t reserved[3];
};
struct GetContextOut {
  std::uint64_t ports_mask;
  std::uint64_t cap_mask;
};
struct AllocPdOut {
  std::uint32_t pdn;
  std::uint32_t reserved;
};
struct WqArray {
  std::uint32_t max_num_of_wqs;
  std::uint32_t max_num_of_wqes_in_wq;
  std::uint8_t mem_id;
  std::uint8_t swq_granularity;
  std::uint8_t reserved[22];
};
struct SetPortIn {
  WqArray arrays[5];
  std::uint64_t bp_offs;  // address
  std::uint32_t bp_offs_count;
  std::uint32_t port_num;
  std::uint8_t reserved0[13];
  std::uint8_t advanced;
  std::uint8_t adaptive_timeout;
  std::uint8_t reserved1;
};
struct QueryPortIn {
  std::uint32_t port_num;
  std::uint32_t reserved;
};
struct QueryPortOut {
  std::uint32_t max_num_of_qps;
  std::uint32_t num_allocated_qps;
  std::uint32_t max_allocated_qp_num;
  std::uint32_t max_cq_size;
  std::uint32_t reserved0[5];
  std::uint8_t advanced;
  std::uint8_t max_num_of_cqs;
  std::uint8_t max_num_of_usr_fifos;
  std::uint8_t max_num_of_encaps;
  std::uint8_t nic_macro_idx;
  std::uint8_t nic_phys_port_idx;
  std::uint8_t reserved1[6];
};
struct UsrFifoIn {
  std::uint32_t port_num;
  std::uint32_t reserved0[2];
  std::uint32_t hint;
  std::uint8_t mode;
  std::uint8_t reserved1[7];
};
struct UsrFifoOut {
  std::uint64_t ci_handle;
  std::uint64_t regs_handle;
  std::uint32_t usr_fifo_num;
  std::uint32_t regs_offset;
  std::uint32_t size;
  std::uint32_t bp_thresh;
};
struct EncapIn {
  std::uint64_t header;  // address
  std::uint32_t header_size;
  std::uint32_t port_num;
  std::uint32_t ipv4_addr;
  std::uint16_t udp_dst_port;
  std::uint16_t ip_proto;
  std::uint8_t type;
  std::uint8_t reserved[7];
};
struct EncapOut {
  std::uint32_t encap_num;
  std::uint32_t reserved;
};
struct ModifyQpIn {
  std::uint32_t local_key;
  std::uint32_t remote_key;
  std::uint32_t congestion_wnd;
  std::uint32_t reserved0;
  std::uint32_t dest_wq_size;
  std::uint8_t priority;
  std::uint8_t wq_type;
  std::uint8_t loopback;
  std::uint8_t congestion;
  std::uint8_t reserved1[2];
  std::uint8_t compression;
  std::uint8_t reserved2;
  std::uint8_t encap;
  std::uint8_t encap_num;
  std::uint8_t reserved3;
  std::uint8_t wq_granularity;
  std::uint8_t reserved4[8];
};
struct ModifyQpOut {
  std::uint64_t swq_handle;
  std::uint64_t rwq_handle;
  std::uint32_t swq_size;
  std::uint32_t rwq_size;
  std::uint32_t qp_num;
  std::uint32_t reserved;
};
struct CreateCqIn {
  std::uint32_t port_num;
  std::uint8_t type;
  std::uint8_t flags;
  std::uint8_t reserved[2];
};
struct CreateCqOut {
  std::uint64_t mem_handle;
  std::uint64_t pi_handle;
  std::uint64_t regs_handle;
  std::uint32_t regs_offset;
  std::uint32_t cq_num;
  std::uint32_t cq_size;
  std::uint32_t reserved;
};

static_assert(sizeof(GetContextIn) == 16 && sizeof(GetContextOut) == 16 && sizeof(AllocPdOut) == 8);
static_assert(sizeof(WqArray) == 32 && sizeof(SetPortIn) == 192);
static_assert(offsetof(SetPortIn, bp_offs) == 160 && offsetof(SetPortIn, bp_offs_count) == 168);
static_assert(offsetof(SetPortIn, port_num) == 172 && offsetof(SetPortIn, advanced) == 189);
static_assert(sizeof(QueryPortIn) == 8 && sizeof(QueryPortOut) == 48 && offsetof(QueryPortOut, advanced) == 36);
static_assert(sizeof(UsrFifoIn) == 24 && offsetof(UsrFifoIn, mode) == 16 && sizeof(UsrFifoOut) == 32);
static_assert(sizeof(EncapIn) == 32 && offsetof(EncapIn, type) == 24 && sizeof(EncapOut) == 8);
static_assert(sizeof(ModifyQpIn) == 40 && offsetof(ModifyQpIn, encap) == 28 && sizeof(ModifyQpOut) == 32);
static_assert(offsetof(ModifyQpIn, wq_granularity) == 31);
static_assert(sizeof(CreateCqIn) == 8 && sizeof(CreateCqOut) == 40);

}  // namespace verbs::uverbs::hbl
