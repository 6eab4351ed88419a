// The stacked links of one port. Frames from the NIC pass down, received frames pass up:
//
//   model        a vendor's model inspects and rewrites frames (if the device has one)
//   faults       the device's fault plan
//   capture      the frames that really leave and arrive
//   address(es)  each an in-process link in front of a UDP socket
//
// Faults, captures and addresses can change while the port runs. Used under the device's lock.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/configuration/configuration.h"
#include "host/models/model_link.h"
#include "host/ports/link_counters.h"
#include "host/progress/clock.h"
#include "link/capture/pcapng_writer.h"
#include "link/link.h"

namespace verbs::soft::host {

struct PortSetup {
  bool has_tunnels() const { return hook.model && hook.model->tunnels; }

  const DeviceConfig& config;
  std::uint8_t port_num;  // from 1
  FrameHook hook;
  std::function<void()> notify;  // a frame arrived from this process: called by any thread, without the device's lock
};

class PortStack final : public link::Transmitter {
 public:
  // Claims the port's addresses. 0, or fail()'s errno.
  static int open(const PortSetup& setup, std::unique_ptr<PortStack>* port);
  ~PortStack() override;

  // The addresses at the start, IPv4 first: the first entries of the GID table.
  const std::vector<wire::Gid>& gids() const { return gids_; }
  // Claims one more address, releases one. 0, or fail()'s errno: EADDRINUSE, EADDRNOTAVAIL; ENOENT.
  int add_address(const wire::Gid& address);
  int remove_address(const wire::Gid& address);
  // From now on the port receives packets to the multicast group, by one of its IPv4 and one of its IPv6 addresses. 0,
  // or fail()'s errno.
  int join(const wire::Gid& group);
  void leave(const wire::Gid& group);
  void add_sockets(std::vector<int>* sockets) const;

  std::uint8_t* reserve() override { return top_->reserve(); }
  void commit(std::size_t size) override { top_->commit(size); }
  void flush() override { top_->flush(); }
  std::uint16_t fixed_source_port() const override { return top_->fixed_source_port(); }

  std::size_t receive(link::Receiver& receiver, std::size_t budget) { return top_->receive(receiver, budget); }
  // Sends the delayed frames that are due. Call it before frames pass: the fault plan needs the time.
  void advance(Nanos now) {
    if (timed_) top_->advance(now);
  }
  Nanos next_deadline() const { return timed_ ? top_->next_deadline() : INT64_MAX; }

  // From now on the port receives packets of such tunnels. 0, or fail()'s errno.
  int listen(const wire::Tunnel& tunnel);
  void unlisten(const wire::Tunnel& tunnel);  // before the tunnel is destroyed

  // 0 or errno. The capture writes to `path` as it is given.
  int start_capture(const std::string& path, const CaptureConfig& capture);
  std::shared_ptr<link::PcapngWriter> capture_writer() const;  // nullptr without a capture
  int stop_capture();                                          // the error that ended the capture early, or 0
  void flush_capture();
  void set_faults(const link::FaultPlan& plan);
  void count(LinkCounters* counters) const;  // adds the counters of this port
  // Adds the counters of the fault plan's rules, the plan's own rule first; nothing without a plan.
  void count_rules(std::vector<link::RuleCounters>* sums) const;

 private:
  struct Links;

  PortStack();
  int open_addresses(const PortSetup& setup);
  void make_changeable();

  std::unique_ptr<Links> links_;
  std::vector<wire::Gid> gids_;
  link::Link* top_ = nullptr;
  bool timed_ = false;  // the fault plan may delay frames
};

}  // namespace verbs::soft::host
