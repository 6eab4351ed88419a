// Runs frames through flow tables.
//
// A pipeline has no lock: it and everything that it uses (tables, meters, samplers, counters) belong to one thread at a
// time. It allocates no memory while it runs; the buffers for copies exist from the start.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "steering/actions/drop_reason.h"
#include "steering/packet/packet.h"
#include "steering/pipeline/matcher.h"

namespace verbs::mlx5::steering {

// The domain decides about a miss: a received frame is dropped, a transmitted frame goes to the wire, and a frame in
// the FDB goes to the e-switch's manager (vport 0).
enum class Domain : std::uint8_t { kNicRx, kNicTx, kFdb };

// Receives the frames at the end of the pipeline. The packet and its frame are valid during the call, which must not
// change tables.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void to_receiver(void* receiver, const Packet& packet) = 0;
  virtual void to_wire(const Packet& packet) = 0;
  virtual void to_vport(std::uint32_t vport, const Packet& packet) = 0;
  virtual void dropped(DropReason reason, const Packet& packet) = 0;
};

struct PipelineOptions {
  // The maximum length of a frame after encapsulation or VLAN push, in bytes with the MAC header; 0: no limit.
  std::uint32_t max_frame_size = 0;
  // The maximum number of tables that a frame and its copies pass in total.
  std::uint32_t hop_limit = 128;
  // The maximum length of a frame that is copied, in bytes, and of copies at the same time.
  std::uint32_t copy_size = 9728;
  std::uint32_t copies = 4;
};

class Pipeline {
 public:
  explicit Pipeline(const PipelineOptions& options = {});

  // Runs a packet from the table `first`; nullptr: it is a miss. Changes the packet's frame in place.
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
  // The next table, if the destination is a table.
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

// The root tables of one type: one for each priority, created at first use, each with the next one as its miss table.

class RootTables {
 public:
  // The priority of flows that select a multicast destination, after all others.
  static constexpr std::uint32_t kMulticastPriority = 32;

  std::shared_ptr<FlowTable> table(std::uint32_t priority);
  // The first table for a frame; nullptr without tables.
  FlowTable* first() const { return tables_.empty() ? nullptr : tables_.begin()->second.get(); }
  const std::map<std::uint32_t, std::shared_ptr<FlowTable>>& tables() const { return tables_; }

 private:
  std::map<std::uint32_t, std::shared_ptr<FlowTable>> tables_;
};

}  // namespace verbs::mlx5::steering
