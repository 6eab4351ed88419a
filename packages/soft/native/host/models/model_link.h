// The link in which a vendor's model inspects and rewrites the frames of its device's ports.
#pragma once

#include "link/link.h"
#include "verbs_soft_extension.h"

namespace verbs::soft::host {

// A device and its model.
struct FrameHook {
  const verbs_soft_model* model = nullptr;
  ibv_device* device = nullptr;
  bool has_frames() const { return model && (model->egress || model->ingress); }
  // Frames pass the model only while it watches, and are not changed.
  bool only_watches() const { return has_frames() && model->only_watches != 0; }
  bool changes_frames() const { return has_frames() && model->only_watches == 0; }
  // The model steers raw packets. Without a model the NIC does, by its flows.
  bool steers() const { return model && model->raw_send && model->raw_receive; }
  bool has_raw_packets() const { return !model || steers(); }
};

class ModelLink final : public link::Link {
 public:
  // `next` must outlive this link.
  ModelLink(Link& next, const FrameHook& hook, std::uint8_t port_num)
      : next_(&next), hook_(hook), port_num_(port_num) {}

  // Replaces the link behind this one.
  void redirect(Link& next) { next_ = &next; }

  std::uint8_t* reserve() override { return reserved_ = next_->reserve(); }
  void commit(std::size_t size) override;
  int route(const wire::Gid& source, const wire::Gid& destination, std::uint32_t* mtu) override {
    return next_->route(source, destination, mtu);
  }
  void flush() override { next_->flush(); }
  bool congested(const wire::Gid& destination, std::uint32_t qp_num) override {
    return next_->congested(destination, qp_num);
  }
  std::uint64_t relieve() override { return next_->relieve(); }
  std::uint16_t fixed_source_port() const override { return next_->fixed_source_port(); }
  std::size_t receive(link::Receiver& receiver, std::size_t budget) override;
  void advance(link::Nanos now) override { next_->advance(now); }
  link::Nanos next_deadline() const override { return next_->next_deadline(); }
  int wait_fd() const override { return next_->wait_fd(); }

 private:
  class Intake;

  Link* next_;
  FrameHook hook_;
  std::uint8_t port_num_;
  std::uint8_t* reserved_ = nullptr;
  std::uint8_t scratch_[wire::kMaxFrame];  // a received frame may be read-only
};

}  // namespace verbs::soft::host
