// What <infiniband/verbs.h> declares in releases after 44: the build takes the header of any of them, and what the
// library exports is the same with each. Structures that a later header defines are named here without their contents,
// and read and written through the layouts below, which are those of release 65.
#pragma once

#include <infiniband/verbs.h>
#include <pthread.h>

#include <array>
#include <cstddef>
#include <cstdint>

struct ibv_buf;
struct ibv_comp_cntr;
struct ibv_comp_cntr_caps;
struct ibv_comp_cntr_init_attr;
struct ibv_dmah;
struct ibv_dmah_init_attr;
struct ibv_mr_init_attr;
struct ibv_qp_attach_comp_cntr_attr;

extern "C" {
ibv_dmah* ibv_alloc_dmah(ibv_context* context, ibv_dmah_init_attr* attr);
int ibv_dealloc_dmah(ibv_dmah* dmah);
ibv_mr* ibv_reg_mr_ex(ibv_pd* pd, ibv_mr_init_attr* attr);
int ibv_query_port_speed(ibv_context* context, std::uint32_t port_num, std::uint64_t* port_speed);
int ibv_dm_export_dmabuf_fd(ibv_dm* dm);
void* ibv_alloc_buf(ibv_pd* pd, std::size_t size, ibv_buf** buf);
void ibv_free_buf(ibv_buf* buf);
ibv_mr* ibv_reg_buf_mr(ibv_pd* pd, ibv_buf* buf, void* addr, std::size_t length, int access);
int ibv_export_buf_dmabuf_fd(ibv_buf* buf);
int _ibv_query_comp_cntr_caps(ibv_context* context, ibv_comp_cntr_caps* caps, std::size_t size);
ibv_comp_cntr* ibv_create_comp_cntr(ibv_context* context, ibv_comp_cntr_init_attr* attr);
int ibv_destroy_comp_cntr(ibv_comp_cntr* counter);
int ibv_set_comp_cntr(ibv_comp_cntr* counter, std::uint64_t value);
int ibv_set_err_comp_cntr(ibv_comp_cntr* counter, std::uint64_t value);
int ibv_inc_comp_cntr(ibv_comp_cntr* counter, std::uint64_t amount);
int ibv_inc_err_comp_cntr(ibv_comp_cntr* counter, std::uint64_t amount);
int ibv_read_comp_cntr(ibv_comp_cntr* counter, std::uint64_t* value);
int ibv_read_err_comp_cntr(ibv_comp_cntr* counter, std::uint64_t* value);
int ibv_qp_attach_comp_cntr(ibv_qp* qp, ibv_comp_cntr* counter, ibv_qp_attach_comp_cntr_attr* attr);
const char* ibv_wr_opcode_str(enum ibv_wr_opcode opcode);
}

namespace verbs::soft::abi::later {

// -- structures that grew

// ibv_qp_ex: wr_flush since 45. Programs call these pointers without a check, so the ones to come are there, too.
struct QpEx {
  std::array<std::byte, 312 + sizeof(pthread_mutex_t)> known;
  void (*wr_flush)(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_addr, std::size_t len, std::uint8_t type,
                   std::uint8_t level);
  std::array<void (*)(ibv_qp_ex* qp), 8> wr_unknown;
};

// ibv_port_attr: active_speed_ex since 49.
struct PortAttr {
  std::array<std::byte, 52> known;
  std::uint32_t active_speed_ex;  // active_speed in 32 bits
};

// verbs_context grows at its front, and says how much of it there is. Release 59 to 64 put six functions there, which
// are exported functions here; so the entries stay NULL.
inline constexpr std::size_t kVerbsContextSize = 656 + sizeof(pthread_mutex_t);
inline constexpr std::size_t kLaterOps =
    sizeof(verbs_context) < kVerbsContextSize ? (kVerbsContextSize - sizeof(verbs_context)) / sizeof(void*) : 0;
template <std::size_t count>
struct Ops {
  std::array<void*, count> ops{};
};
template <>
struct Ops<0> {};

// -- new structures

struct Dmah {
  ibv_context* context;
};

struct DmahInitAttr {
  std::uint32_t comp_mask;  // 1: cpu_id, 2: ph, 4: tph_mem_type
  std::uint32_t cpu_id;
  std::uint8_t ph;
  std::uint8_t tph_mem_type;
};

enum MrInitAttrMask : std::uint64_t {
  kMrIova = 1u << 0,
  kMrAddr = 1u << 1,
  kMrFd = 1u << 2,
  kMrFdOffset = 1u << 3,
  kMrDmah = 1u << 4,
  kMrBuf = 1u << 5,
};

struct MrInitAttr {
  std::size_t length;
  int access;
  std::uint64_t comp_mask;  // MrInitAttrMask: which of the fields below are there
  std::uint64_t iova;
  void* addr;
  int fd;
  std::uint64_t fd_offset;
  ibv_dmah* dmah;  // since 59
  ibv_buf* buf;    // since 64
};

struct CompCntr {
  ibv_context* context;
  std::uint32_t handle;
};

struct CompCntrCaps {
  std::uint64_t max_value;
  std::uint32_t max_counters;
  std::uint32_t supported_qp_attach_ops;
};

struct CompCntrInitAttr {
  std::uint32_t comp_mask;
  std::uint32_t type;  // 0: work requests, 1: bytes
  std::uint32_t flags;
};

struct QpAttachCompCntrAttr {
  std::uint32_t comp_mask;
  std::uint32_t op_mask;
};

inline constexpr std::uint32_t kParentDomainAllowUnprotected = 1u << 2;  // ..._ALLOW_CC_UNPROTECTED_ALLOC, since 64
inline constexpr std::uint64_t kQpExWithFlush = 1u << 11;                // IBV_QP_EX_WITH_FLUSH, since 45

}  // namespace verbs::soft::abi::later
