// Writes every frame that passes to a capture file, in both directions.
#pragma once

#include <cstdint>
#include <memory>

#include "link/capture/pcapng_writer.h"
#include "link/link.h"

namespace verbs::soft::link {

class CaptureLink final : public Link {
 public:
  using Clock = std::uint64_t (*)();  // nanoseconds since 1970

  // `next` must outlive this link.
  CaptureLink(Link& next, std::shared_ptr<PcapngWriter> writer, Clock clock,
              CaptureInterface interface = CaptureInterface::kIp)
      : next_(&next), writer_(std::move(writer)), clock_(clock), interface_(interface) {}

  // Replaces the link behind this one.
  void redirect(Link& next) { next_ = &next; }
  const std::shared_ptr<PcapngWriter>& writer() const { return writer_; }

  std::uint8_t* reserve() override { return reserved_ = next_->reserve(); }
  void commit(std::size_t size) override {
    writer_->write({reserved_, size}, PacketDirection::kOutbound, clock_(), interface_);
    next_->commit(size);
  }
  int route(const wire::Gid& source, const wire::Gid& destination, std::uint32_t* mtu) override {
    return next_->route(source, destination, mtu);
  }
  void flush() override { next_->flush(); }
  bool congested(const wire::Gid& destination, std::uint32_t qp_num) override {
    return next_->congested(destination, qp_num);
  }
  std::uint64_t relieve() override { return next_->relieve(); }
  std::uint16_t fixed_source_port() const override { return next_->fixed_source_port(); }
  std::size_t receive(Receiver& receiver, std::size_t budget) override {
    Tap tap{*this, receiver};
    return next_->receive(tap, budget);
  }
  void advance(Nanos now) override { next_->advance(now); }
  Nanos next_deadline() const override { return next_->next_deadline(); }
  int wait_fd() const override { return next_->wait_fd(); }

 private:
  struct Tap final : Receiver {
    Tap(CaptureLink& of, Receiver& to) : link(of), receiver(to) {}
    void deliver(std::span<const std::uint8_t> frame) override {
      link.writer_->write(frame, PacketDirection::kInbound, link.clock_(), link.interface_);
      receiver.deliver(frame);
    }
    void deliver_referring(std::span<const std::uint8_t> frame, SenderMemory& /*memory*/) override {
      receiver.deliver_referring(frame, unreadable_memory());
    }
    void refuse(const wire::Path& path) override { receiver.refuse(path); }
    CaptureLink& link;
    Receiver& receiver;
  };

  Link* next_;
  std::shared_ptr<PcapngWriter> writer_;
  Clock clock_;
  CaptureInterface interface_;
  std::uint8_t* reserved_ = nullptr;
};

}  // namespace verbs::soft::link
