// The flows of a NIC without a vendor's model (ibv_create_flow): which RAW_PACKET queue pairs get a received frame. A
// frame goes to the first entry that matches it: flows of lower priority numbers come first, then the older ones, then
// the default flows. Flows with the same match share an entry, and each of their queue pairs gets a copy.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "nic/flow_match.h"
#include "nic/raw_packets.h"

namespace verbs::soft::nic {

struct FlowEntry;

struct Flow {
  FlowEntry* entry;
  Qp* qp;
};

// One match, with the flows that share it.
struct FlowEntry {
  FlowMatch match;
  FlowAction action;
  std::uint8_t port_num = 0;
  std::uint32_t rank = 0;  // the priority, or behind all priorities for the default flows
  bool goes_on = false;    // IBV_FLOW_ATTR_FLAGS_DONT_TRAP: the entries behind it see the frame, too
  std::vector<std::unique_ptr<Flow>> flows;

  bool same_frames(const FlowEntry& other) const {
    return port_num == other.port_num && rank == other.rank && goes_on == other.goes_on && match == other.match;
  }
};

class FlowTable {
 public:
  FlowTable(Core& core, RawPackets& frames) : core_(core), frames_(frames) {}
  FlowTable(const FlowTable&) = delete;
  FlowTable& operator=(const FlowTable&) = delete;

  // `attr` is followed by its specifications. 0; EINVAL (wrong attributes, or a queue pair of another type), EOPNOTSUPP
  // (a kind of flow, a specification or an action that there is not), EEXIST (an entry has that match and another
  // action) or ENOMEM (kMaxFlows).
  int create(Qp* qp, const ibv_flow_attr& attr, Flow** flow);
  void destroy(Flow* flow);

  // A frame arrived: of FrameSteering.
  void receive(std::uint8_t port_num, const verbs_soft_frame& frame);

  static constexpr std::size_t kMaxFlows = 1u << 14;

 private:
  int check(const Qp& qp, const ibv_flow_attr& attr, Why* why) const;
  void deliver(const FlowEntry& entry, const verbs_soft_frame& frame);

  Core& core_;
  RawPackets& frames_;
  std::size_t count_ = 0;
  std::vector<std::unique_ptr<FlowEntry>> entries_;  // in the order in which frames look at them
};

}  // namespace verbs::soft::nic
