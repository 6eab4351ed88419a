// The state of an open device and everything in it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "hbl_doorbell.h"
#include "hbldv.h"
#include "model/device/usr_fifo.h"
#include "model/device/worker.h"
#include "model/doorbell/mapped_memory.h"
#include "verbs_soft_extension.h"

namespace verbs::hbl {

// `gaudi` has all that the manual pages describe, and the ordinary verbs as an extension of ours; `gaudi2` accepts
// exactly what the kernel driver of that generation does.
enum class Profile : std::uint8_t { kGaudi, kGaudi2 };

inline constexpr std::uint32_t kFifosPerPort = 30;
inline constexpr std::uint32_t kCqsPerPort = 14;
inline constexpr std::uint32_t kEncapsPerPort = 8;  // of a gaudi
inline constexpr std::uint32_t kCqeSize = 16;
inline constexpr std::uint32_t kMaxCqes = 8192;

class Context;

struct Encap {
  hbldv_encap face{};
  Context* context = nullptr;
  std::uint32_t port_num = 0;
  std::uint32_t slot = 0;
  verbs_soft_tunnel* tunnel = nullptr;
};

struct Cq {
  ibv_cq* verbs = nullptr;
  Context* context = nullptr;
  std::uint32_t port_num = 0;
  std::uint32_t number = 0;
  hbldv_cq_type type = HBLDV_CQ_TYPE_QP;
  MappedMemory entries;
  MappedMemory producer;          // a page with the producer index
  RegisterPage* page = nullptr;   // where the consumer index is told; the model needs none of it
  std::uint32_t index = 0;        // produced so far
  std::uint32_t outstanding = 0;  // completions that announced work will still give
  // What ibv_poll_cq() has not fetched: the newest, if it never does.
  std::vector<ibv_wc> ready;
  std::uint32_t ready_head = 0, ready_count = 0;

  std::uint32_t capacity() const { return static_cast<std::uint32_t>(ready.size()); }
};

struct Qp {
  ibv_qp* verbs = nullptr;
  std::uint32_t port_num = 0;
  std::uint32_t number = 0;      // the hardware's; 0 before INIT
  std::uint32_t generation = 0;  // of numbers: INIT twice gives two
  std::uint32_t wq_type = 0;
  hbldv_swq_granularity granularity = HBLDV_SWQE_GRAN_32B;
  std::uint32_t local_key = 0, remote_key = 0;
  std::uint32_t max_send_wr = 0;
  MappedMemory send_queue, receive_queue;
  std::uint32_t entries = 0;  // of each of them
  std::uint32_t next = 0;     // the entry that runs next, modulo 2^22
  std::uint32_t stride = 0;   // of that entry
};

struct Port {
  bool closed = false;
  bool set = false;
  bool advanced = false;
  std::uint32_t wqs = 0, wqes = 0;  // of the generic work queue array; 0: there is none
  std::array<Encap*, kEncapsPerPort> encaps{};
  std::array<UsrFifo*, kFifosPerPort> fifos{};
  std::uint32_t cqs = 0;
  bool has_cc_cq = false;
};

// Its lock guards everything in it. Control verbs of the NIC may be called under it, never the reverse.
class Context {
 public:
  Context(ibv_context* verbs, Profile profile, std::uint32_t ports, std::uint64_t mask, bool by_default);

  bool has_port(std::uint32_t port_num) const;
  Port& port(std::uint32_t port_num) { return ports[port_num - 1]; }
  // 0 or errno, in the kernel's order: no such port, closed, not set up.
  int check_port(std::uint32_t port_num, bool must_be_set);
  Qp* find_qp(const ibv_qp* qp);

  ibv_context* const verbs;
  const Profile profile;
  const std::uint64_t ports_mask;
  const bool by_default;  // opened without attributes
  int references = 1;
  std::recursive_mutex mutex;
  std::vector<Port> ports;
  std::map<const ibv_qp*, std::unique_ptr<Qp>> qps;
  std::map<const ibv_cq*, std::unique_ptr<Cq>> cqs;
  std::map<const void*, std::unique_ptr<Encap>> encaps;
  std::map<const void*, std::unique_ptr<UsrFifo>> fifos;
  std::uint32_t next_cq_number = 0;
  std::uint32_t pds = 0;
  verbs_soft_verbs base{};         // the NIC's own control verbs
  ibv_context_ops base_ops{};      // and data path
  std::unique_ptr<Worker> worker;  // from the first FIFO on
};

// The software NIC; null before it has handed over its table.
const verbs_soft_extension_table* soft();
// The open context of a device of ours; nullptr for any other.
Context* context_of(ibv_context* verbs);
bool is_ours(const ibv_device* device);

// Takes entries out of an object's context: the context if it is alive, else nullptr.
Context* context_of_encap(const hbldv_encap* encap);
Context* context_of_fifo(const hbldv_usr_fifo* fifo);

template <typename T>
T* null_with(int error) {
  errno = error;
  return nullptr;
}

}  // namespace verbs::hbl
