// An open device and everything in it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "hbl_doorbell.h"
#include "hbldv.h"
#include "model/device/cq.h"
#include "model/device/encap.h"
#include "model/device/port.h"
#include "model/device/profile.h"
#include "model/device/qp.h"
#include "model/device/usr_fifo.h"
#include "model/device/worker.h"
#include "verbs_soft_fair_lock.h"
#include "verbs_soft_model.h"

namespace verbs::hbl::model {

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
  std::uint32_t pds = 0;
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
