// Runs frames through flow tables.
//
// A pipeline has no lock: it and all that it reaches (tables, meters, samplers, counters) belong to one thread at a
// time. It allocates nothing while it runs: what a frame is copied to is there from the start.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "steering/actions/drop_reason.h"
#include "steering/packet/packet.h"
#include "steering/pipeline/flow_table.h"

namespace verbs::mlx5::steering {

// Where a miss goes: dropped on the receive side, to the wire on the transmit side, to the e-switch's manager (vport 0)
// in the FDB.
enum class Domain : std::uint8_t { kNicRx, kNicTx, kFdb };

// Where frames come out. The packet and its frame are valid during the call; tables may not be changed from within.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void to_receiver(void* receiver, const Packet& packet) = 0;
  virtual void to_wire(const Packet& packet) = 0;
  virtual void to_vport(std::uint32_t vport, const Packet& packet) = 0;
  virtual void dropped(DropReason reason, const Packet& packet) = 0;
};

struct PipelineOptions {
  // The longest frame that may come out of an encapsulation or a VLAN push, MAC header included; 0: any.
  std::uint32_t max_frame_size = 0;
  // How many tables one frame with all of its copies may go through.
  std::uint32_t hop_limit = 128;
  // The longest frame that can be copied, and how many copies there can be at a time.
  std::uint32_t copy_size = 9728;
  std::uint32_t copies = 4;
};

class Pipeline {
 public:
  explicit Pipeline(const PipelineOptions& options = {});

  // `first` may be nullptr: everything misses. The packet's frame is changed in place.
  void run(const FlowTable* first, Domain domain, Packet& packet, Sink& sink);

  const DropCounters& drops() const { return drops_; }
  void set_geneve_option(const GeneveOption& option) { geneve_option_ = option; }
  void set_max_frame_size(std::uint32_t size) { options_.max_frame_size = size; }

 private:
  struct Run;
  class Copy;
  void go(Run& run, const FlowTable* table, Packet& packet);
  bool act(Run& run, const ActionList& actions, Packet& packet);
  bool act(Run& run, const Action& action, Packet& packet);
  bool reformat(Run& run, const Reformat& reformat, Packet& packet);
  bool fits(Run& run, const Packet& packet);
  bool push_vlan(Run& run, std::uint32_t header, Packet& packet);
  // The table to go on with, if the destination is one.
  const FlowTable* deliver(Run& run, const Destination& destination, Packet& packet);
  void deliver_fully(Run& run, const Destination& destination, Packet& packet);
  const FlowTable* sample(Run& run, Sampler& sampler, Packet& packet);
  void fan_out(Run& run, const DestinationArray& array, Packet& packet);
  void miss(Run& run, Packet& packet);
  void drop(Run& run, DropReason reason, const Packet& packet);

  PipelineOptions options_;
  GeneveOption geneve_option_;
  DropCounters drops_ = {};
  std::vector<std::uint8_t> copies_;
  std::uint32_t copies_used_ = 0;
};

}  // namespace verbs::mlx5::steering
