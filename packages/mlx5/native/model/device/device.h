// A device: its limits, and the flow tables for received and transmitted frames.
#pragma once

#include <string.h>
#include <sys/stat.h>

// Uses string.h without including it.
#include <infiniband/mlx5dv.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "model/device/query.h"
#include "steering/pipeline/pipeline.h"
#include "verbs_soft_model.h"
#include "verbs_soft_privilege.h"

namespace verbs::mlx5::model {

namespace steering = verbs::mlx5::steering;

class FlowEntry;

// Each direction has tables of its own: Ethernet frames of raw queue pairs, and RoCE packets of all others.
enum class Direction : std::uint8_t { kReceive, kTransmit, kRdmaReceive, kRdmaTransmit };

// How many objects of each limited kind exist.
struct Quota {
  std::uint32_t reformats = 0;
  std::uint32_t modify_headers = 0;
  std::uint32_t counters = 0;
  std::uint32_t tables = 0;
};

// One for each device of the configuration. Never destroyed.
class Device {
 public:
  explicit Device(ibv_device* its_ibv) : ibv(its_ibv) {}

  // The number by which commands and programs name a table.
  std::uint32_t id_of(const steering::FlowTable& table) {
    const auto [entry, added] = table_ids_.try_emplace(&table, next_id);
    if (added) ++next_id;
    return entry->second;
  }

  steering::RootTables& root(Direction direction) { return roots[static_cast<std::size_t>(direction)]; }

  ibv_device* const ibv;
  Capabilities capabilities;

  // Under the model's mutex.
  Quota quota;
  std::uint32_t next_id = 1;  // tables, counters and TIRs share one range of numbers
  std::unordered_map<const steering::Rule*, std::shared_ptr<FlowEntry>> entries;
  std::uint32_t rdma_flows = 0;  // for RoCE packets, which pass the tables while there are any

  // Under the device's lock.
  std::array<steering::RootTables, 4> roots;
  steering::Pipeline receive_pipeline, transmit_pipeline, rdma_pipeline;
  std::array<std::uint64_t*, steering::kDropReasons> drops{};
  std::uint32_t clocked = 0;  // number of actions that need the time

 private:
  std::unordered_map<const steering::FlowTable*, std::uint32_t>
      table_ids_;  // of root tables, which are never destroyed
};

// The model's device for an ibv_device; nullptr if add_device() was not called. Lock-free: the frame path calls it.
Device* find_device(const ibv_device* ibv);
Device& add_device(ibv_device* ibv);

// An open context of a device, and the software NIC below it.

struct Context {
  ibv_context* ibv = nullptr;  // after its closing another one of its command file
  Device* device = nullptr;
  verbs_soft_verbs base{};                                       // the NIC's own control verbs
  decltype(verbs_context::create_qp_ex) create_qp_ex = nullptr;  // and these
  decltype(verbs_context::create_wq) create_wq = nullptr;
  decltype(verbs_context::destroy_wq) destroy_wq = nullptr;
  std::unordered_map<std::uint32_t, ibv_pd*> pds;  // whose numbers the program has asked for; they may be gone
  struct stat command_file{};
  bool closed = false;
};

// Of one command file: imported from one another by ibv_import_device(). Their objects end with the last of them.
inline bool shares_objects(const Context& one, const Context& other) {
  return one.command_file.st_dev == other.command_file.st_dev && one.command_file.st_ino == other.command_file.st_ino;
}

// The software NIC's function table; nullptr before it is attached.
const verbs_soft_extension_table* soft();
bool is_ours(const ibv_device* device);
// The open context of a device of ours; nullptr for any other.
Context* context_of(const ibv_context* verbs);

// The protection domain with that number, as commands name it; nullptr unless mlx5dv_init_obj() has told the number and
// the domain still is there. Under the model's mutex.
ibv_pd* find_pd(const Context& context, std::uint32_t pdn);

// While one exists, no frame passes the device's tables. error() is EIO in a forked child, which has no device.
class DeviceLock {
 public:
  explicit DeviceLock(const Context& context) : ibv_(context.ibv), error_(soft()->lock_device(ibv_)) {}
  ~DeviceLock() {
    if (error_ == 0) soft()->unlock_device(ibv_);
  }
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;
  int error() const { return error_; }

 private:
  ibv_context* ibv_;
  int error_;
};

using soft::model::has_net_raw;
using soft::model::null_with;

}  // namespace verbs::mlx5::model
