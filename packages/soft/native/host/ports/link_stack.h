// The capture and the fault plan in front of a port's links. Both can be set while the port runs. The capture is behind
// the fault plan: it has the frames that really leave and arrive.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "host/ports/link_counters.h"
#include "link/capture/capture_link.h"
#include "link/faults/fault_link.h"
#include "link/link.h"
#include "wire/gid.h"

namespace verbs::soft::host {

class LinkStack {
 public:
  explicit LinkStack(link::Link& base) : base_(&base) {}

  // The link that frames pass first; every call below may change it.
  link::Link& top();
  // Replaces the link behind.
  void redirect(link::Link& base);

  // Without memory nothing has changed.
  void start_capture(std::shared_ptr<link::PcapngWriter> writer, link::CaptureInterface interface);
  void stop_capture();
  // nullptr without a capture.
  std::shared_ptr<link::PcapngWriter> writer() const { return capture_ ? capture_->writer() : nullptr; }

  // All that needs memory, so that a plan is set in several stacks or in none; nullptr: the plan changes no frame.
  std::unique_ptr<link::FaultLink> make_faults(const link::FaultPlan& plan);
  // Frames that an earlier plan delays are lost.
  void set_faults(std::unique_ptr<link::FaultLink> faults);
  // Whether frames may be delayed.
  bool is_timed() const { return faults_ != nullptr; }

  void count(LinkCounters* counters) const;
  // Adds the counters of the fault plan's rules, the plan's own rule first; nothing without a plan.
  void count_rules(std::vector<link::RuleCounters>* sums) const;

 private:
  link::Link& below_faults() { return capture_ ? static_cast<link::Link&>(*capture_) : *base_; }
  link::Link* base_;
  std::unique_ptr<link::CaptureLink> capture_;
  std::unique_ptr<link::FaultLink> faults_;
  LinkCounters ended_;  // sums of earlier plans
};

// The link of a port with several addresses, or with addresses that change. A frame leaves by the link of its source
// address.

class AddressLink final : public link::Link {
 public:
  // A link must outlive this one, or be removed before it is destroyed.
  explicit AddressLink(std::vector<std::pair<wire::Gid, link::Link*>> links);

  void add(const wire::Gid& address, link::Link* link) { links_.emplace_back(address, link); }
  void remove(const wire::Gid& address);

  // A frame is built in the buffer of the link by which the last one left, and copied if it leaves by another link.
  // Without any link it is dropped.
  std::uint8_t* reserve() override;
  void commit(std::size_t size) override;
  void commit_unsealed(std::span<std::uint8_t> frame) override;
  bool takes_references(const wire::Gid& source, const wire::Gid& destination, std::uint32_t qp_num) override;
  int route(const wire::Gid& source, const wire::Gid& destination, std::uint32_t* mtu) override;
  void commit_referring(std::span<std::uint8_t> frame) override;
  link::MessageWay* message_way(const wire::Gid& source, const wire::Gid& destination, std::uint32_t qp_num) override;
  void revoke_references() override;
  std::shared_ptr<link::Neighbour> neighbour(const wire::Gid& source, const wire::Gid& destination) override;
  void flush() override;
  bool congested(const wire::Gid& destination, std::uint32_t qp_num) override;  // if one of its links is
  std::uint64_t relieve() override;
  link::Nanos next_deadline() const override;
  std::uint16_t fixed_source_port() const override { return source_port_; }
  std::size_t receive(link::Receiver& receiver, std::size_t budget) override;

 private:
  std::vector<std::pair<wire::Gid, link::Link*>> links_;
  std::uint16_t source_port_;
  link::Link& link_of(std::span<const std::uint8_t> frame) const;
  // From now on frames are built in that link's buffer. Where the frame is now; nullptr: it was built there.
  std::uint8_t* take(link::Link& link, std::span<const std::uint8_t> frame);

  link::Link* last_ = nullptr;  // whose buffer was reserved
  std::uint8_t* reserved_ = nullptr;
  std::uint64_t removed_relieved_ = 0;       // of links that were removed
  std::unique_ptr<std::uint8_t[]> nowhere_;  // for frames, while there is no link
};

}  // namespace verbs::soft::host
