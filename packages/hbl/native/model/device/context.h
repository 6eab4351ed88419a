// An open device and everything in it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "hbl_doorbell.h"
#include "hbldv.h"
#include "model/device/cq.h"
#include "model/device/worker.h"
#include "model/doorbell/doorbell_ring.h"
#include "model/doorbell/register_page.h"
#include "verbs_soft_extension.h"
#include "verbs_soft_fair_lock.h"
#include "verbs_soft_model.h"

namespace verbs::hbl::model {

// An encapsulation: a tunnel of the NIC, and the number by which queue pairs name it.

struct Encap {
  hbldv_encap hbldv{};  // the structure that the program has
  std::uint32_t port_num = 0;
  std::uint32_t slot = 0;
  verbs_soft_tunnel* tunnel = nullptr;
};

// The generations of devices that the model follows, and their limits.

// kGaudi has everything that the manual pages describe, and the ordinary verbs as an extension of ours. kGaudi2 accepts
// exactly what the kernel driver of that generation accepts.
enum class Profile : std::uint8_t { kGaudi, kGaudi2 };

inline constexpr std::uint32_t kFifosPerPort = 30;
inline constexpr std::uint32_t kCqsPerPort = 14;
inline constexpr std::uint32_t kEncapsPerPort = 8;  // of a gaudi
inline constexpr std::uint32_t kCqeSize = 16;       // bytes
inline constexpr std::uint32_t kMaxCqes = 8192;

// A port: its extended attributes, and which of its numbered objects exist.

struct Encap;
struct UsrFifo;

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

// A queue pair: one of the NIC, the hardware's number of it, and its mapped work queues.

struct Qp {
  ibv_qp* ibv = nullptr;
  std::uint32_t port_num = 0;
  std::uint32_t number = 0;      // the hardware's; 0 before INIT
  std::uint32_t generation = 0;  // INIT gives a new number each time
  std::uint32_t wq_type = 0;
  hbldv_swq_granularity granularity = HBLDV_SWQE_GRAN_32B;
  std::uint32_t local_key = 0, remote_key = 0;
  std::uint32_t max_send_wr = 0;
  MappedMemory send_queue, receive_queue;
  std::uint32_t entries = 0;      // of each of the two queues; 0: none is mapped
  std::uint32_t next = 0;         // the entry to execute next, modulo 2^22
  std::uint32_t stride = 0;       // the stride of that entry to execute next
  std::uint32_t outstanding = 0;  // its part of that of its completion queue
};

// A user FIFO: a doorbell ring behind a register, and the page with its consumer index.

struct UsrFifo {
  explicit UsrFifo(Waker& waker) : ring(waker) {}
  hbldv_usr_fifo hbldv{};  // the structure that the program has
  std::uint32_t port_num = 0;
  int hardware_id = 0;
  hbldv_usr_fifo_type type = HBLDV_USR_FIFO_TYPE_DB;
  MappedMemory consumer;
  RegisterPage* page = nullptr;  // shared by two FIFOs
  DoorbellRing ring;
};

// Its lock guards everything in it. Control verbs of the NIC may be called under the lock, never the reverse.
class Context {
 public:
  Context(ibv_context* ibv, Profile profile, std::uint32_t ports, std::uint64_t mask, bool by_default);

  bool has_port(std::uint32_t port_num) const;
  Port& port(std::uint32_t port_num) { return ports[port_num - 1]; }
  // 0 or errno, in the kernel's order: no such port, closed, not set up.
  int check_port(std::uint32_t port_num, bool must_be_set);
  Qp* find_qp(const ibv_qp* qp);

  ibv_context* const ibv;
  const Profile profile;
  const std::uint64_t ports_mask;
  const bool by_default;  // opened without attributes
  int references = 1;
  soft::FairLock mutex;
  std::vector<Port> ports;
  std::map<const ibv_qp*, std::unique_ptr<Qp>> qps;
  std::map<const ibv_cq*, std::unique_ptr<Cq>> cqs;
  std::map<const void*, std::unique_ptr<Encap>> encaps;
  std::map<const void*, std::unique_ptr<UsrFifo>> fifos;
  std::uint32_t next_cq_number = 0;
  std::atomic<std::uint32_t> pds = 0;
  verbs_soft_verbs base{};         // the NIC's own control verbs
  ibv_context_ops base_ops{};      // the NIC's own data path
  std::unique_ptr<Worker> worker;  // from the first FIFO on
};

// The software NIC's function table; nullptr before it is attached.
const verbs_soft_extension_table* soft();
// verbs_soft_model_load().
int attach(verbs_soft_extension_function extension, const verbs_soft_model& model);
bool is_ours(const ibv_device* device);

// The open contexts. The lock guards the list, and with it the lifetime of each context.
struct OpenContexts {
  soft::FairLock mutex;
  std::vector<Context*> list;
};
OpenContexts& open_contexts();

// The open context of a device of ours; nullptr for any other.
Context* context_of(ibv_context* ibv);
// The open context that has this object; nullptr if none has.
Context* context_of_encap(const hbldv_encap* encap);
Context* context_of_fifo(const hbldv_usr_fifo* fifo);

// An entry of a map of objects, allocated before the NIC makes the object that is its key: nothing fails afterwards.
template <typename Map>
class Entry {
 public:
  explicit Entry(typename Map::mapped_type object) {
    Map one;
    one.emplace(nullptr, std::move(object));
    node_ = one.extract(one.begin());
  }
  auto& object() { return *node_.mapped(); }
  void add(Map& map, typename Map::key_type key) {
    node_.key() = key;
    map.insert(std::move(node_));
  }

 private:
  typename Map::node_type node_;
};

using soft::model::null_with;

}  // namespace verbs::hbl::model
