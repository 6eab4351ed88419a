#include "host/models/model_link.h"

#include <cstring>

namespace verbs::soft::host {

class ModelLink::Intake final : public link::Receiver {
 public:
  Intake(ModelLink& link, Receiver& receiver) : link_(link), receiver_(receiver) {}

  void deliver(std::span<const std::uint8_t> frame) override {
    if (frame.size() > sizeof link_.scratch_) return;
    std::memcpy(link_.scratch_, frame.data(), frame.size());
    const FrameHook& hook = link_.hook_;
    const std::uint32_t size = hook.model->ingress(hook.model->data, hook.device, link_.port_num_, link_.scratch_,
                                                   static_cast<std::uint32_t>(frame.size()), sizeof link_.scratch_);
    if (size > 0 && size <= sizeof link_.scratch_) receiver_.deliver({link_.scratch_, size});
  }
  void deliver_referring(std::span<const std::uint8_t> frame, link::SenderMemory& /*memory*/) override {
    receiver_.deliver_referring(frame, link::unreadable_memory());
  }
  void refuse(const wire::Path& path) override { receiver_.refuse(path); }

 private:
  ModelLink& link_;
  Receiver& receiver_;
};

void ModelLink::commit(std::size_t size) {
  if (hook_.model->egress) {
    size = hook_.model->egress(hook_.model->data, hook_.device, port_num_, reserved_, static_cast<std::uint32_t>(size),
                               wire::kMaxFrame);
  }
  if (size > 0 && size <= wire::kMaxFrame) next_->commit(size);
}

std::size_t ModelLink::receive(link::Receiver& receiver, std::size_t budget) {
  if (!hook_.model->ingress) return next_->receive(receiver, budget);
  Intake intake(*this, receiver);
  return next_->receive(intake, budget);
}

}  // namespace verbs::soft::host
