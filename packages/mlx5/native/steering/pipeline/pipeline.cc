#include "steering/pipeline/pipeline.h"

#include <algorithm>
#include <cstring>

#include "steering/actions/sampler.h"
#include "steering/headers/bytes.h"

namespace verbs::mlx5::steering {
namespace {

constexpr std::uint32_t kAddresses = 12;
constexpr std::uint32_t kCopyHeadroom = 256;

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

void pop_vlan(Packet& packet) {
  if (packet.layers().outer.vlan[0] == kAbsent) return;
  Frame& frame = packet.change();
  std::memmove(frame.data + kVlanSize, frame.data, kAddresses);
  frame.strip(kVlanSize);
}

void set_low_bits(Packet& packet, std::uint8_t reg_c, std::uint32_t value, std::uint32_t mask) {
  std::uint32_t& target = packet.change_registers().c[reg_c % 8];
  target = (target & ~mask) | (value & mask);
}

// Whether a destination leaves the frame unchanged, so that the next one needs no copy.
bool leaves_frame(const Destination& destination) {
  return !std::holds_alternative<ToTable>(destination) && !std::holds_alternative<ToArray>(destination) &&
         !std::holds_alternative<ToSampler>(destination);
}

}  // namespace

struct Pipeline::Run {
  Domain domain;
  Sink& sink;
  std::uint32_t hops_left;
};

// A copy of a frame in one of the pipeline's buffers. The destructor releases the buffer.
class Pipeline::Copy {
 public:
  Copy(Pipeline& pipeline, const Packet& packet) : pipeline_(pipeline), packet_(packet) {
    const Frame& frame = packet.frame();
    const PipelineOptions& options = pipeline.options_;
    if (frame.size > options.copy_size || pipeline.copies_used_ == options.copies) return;
    const std::size_t slot = kCopyHeadroom + std::size_t{options.copy_size};
    std::uint8_t* data = pipeline.copies_.data() + pipeline.copies_used_ * slot + kCopyHeadroom;
    std::copy_n(frame.data, frame.size, data);
    packet_.change() = {data, frame.size, kCopyHeadroom, options.copy_size - frame.size};
    ++pipeline.copies_used_;
    valid_ = true;
  }
  ~Copy() {
    if (valid_) --pipeline_.copies_used_;
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  bool valid() const { return valid_; }
  Packet& packet() { return packet_; }

 private:
  Pipeline& pipeline_;
  Packet packet_;
  bool valid_ = false;
};

Pipeline::Pipeline(const PipelineOptions& options)
    : options_(options), copies_((kCopyHeadroom + std::size_t{options.copy_size}) * options.copies) {}

void Pipeline::run(const FlowTable* first, Domain domain, Packet& packet, Sink& sink) {
  Run run{domain, sink, options_.hop_limit};
  if (first == nullptr) return miss(run, packet);
  go(run, first, packet);
}

void Pipeline::go(Run& run, const FlowTable* table, Packet& packet) {
  while (table != nullptr) {
    if (run.hops_left == 0) return drop(run, DropReason::kHopLimit, packet);
    --run.hops_left;
    const Rule* rule = table->look_up(packet, geneve_option_);
    if (rule == nullptr) {
      table = table->miss_table().get();
      if (table == nullptr) miss(run, packet);
      continue;
    }
    ++rule->hits_;
    if (!act(run, rule->actions(), packet)) return;
    table = deliver(run, rule->actions().destination(), packet);
  }
}

bool Pipeline::act(Run& run, const ActionList& actions, Packet& packet) {
  for (const Action& action : actions.steps()) {
    if (!act(run, action, packet)) return false;
  }
  return true;
}

// False: the frame was dropped.
bool Pipeline::act(Run& run, const Action& action, Packet& packet) {
  return std::visit(Overloaded{
                        [&](const ReformatAction& step) { return reformat(run, *step.reformat, packet); },
                        [&](const PopVlan&) {
                          pop_vlan(packet);
                          return true;
                        },
                        [&](const PushVlan& step) { return push_vlan(run, step.header, packet); },
                        [&](const CountAction& step) {
                          ++step.counter->packets;
                          step.counter->bytes += packet.frame().size;
                          return true;
                        },
                        [&](const ModifyAction& step) {
                          step.modify->apply(packet);
                          return true;
                        },
                        [&](const SetTag& step) {
                          packet.flow_tag = step.tag & 0xffffff;
                          return true;
                        },
                        [&](const MeterAction& step) {
                          const Colour colour = step.meter->colour(packet);
                          set_low_bits(packet, step.reg_c, static_cast<std::uint32_t>(colour), 0xff);
                          return true;
                        },
                        [&](const FirstHitAction& step) {
                          set_low_bits(packet, step.reg_c, *step.flag ? 1 : 0, 1);
                          *step.flag = *step.flag || step.set;
                          return true;
                        },
                        [&](const Destination&) { return true; },  // not among the steps of an ActionList
                    },
                    action);
}

bool Pipeline::reformat(Run& run, const Reformat& reformat, Packet& packet) {
  if (const auto reason = reformat.apply(packet)) {
    drop(run, *reason, packet);
    return false;
  }
  return !is_encap(reformat.type()) || fits(run, packet);
}

bool Pipeline::push_vlan(Run& run, std::uint32_t header, Packet& packet) {
  if (packet.frame().size < kMacSize) return true;  // too short for a tag
  Frame& frame = packet.change();
  if (!frame.extend(kVlanSize)) {
    drop(run, DropReason::kNoHeadroom, packet);
    return false;
  }
  std::memmove(frame.data, frame.data + kVlanSize, kAddresses);
  store32(frame.data + kAddresses, header);
  return fits(run, packet);
}

bool Pipeline::fits(Run& run, const Packet& packet) {
  if (options_.max_frame_size == 0 || packet.frame().size <= options_.max_frame_size) return true;
  drop(run, DropReason::kMtu, packet);
  return false;
}

const FlowTable* Pipeline::deliver(Run& run, const Destination& destination, Packet& packet) {
  return std::visit(Overloaded{
                        [&](const DefaultMiss&) -> const FlowTable* {
                          miss(run, packet);
                          return nullptr;
                        },
                        [&](const Drop&) -> const FlowTable* {
                          drop(run, DropReason::kAction, packet);
                          return nullptr;
                        },
                        [&](const ToReceiver& to) -> const FlowTable* {
                          run.sink.to_receiver(to.receiver, packet);
                          return nullptr;
                        },
                        [&](const ToTable& to) -> const FlowTable* {
                          if (to.table == nullptr) miss(run, packet);
                          return to.table.get();
                        },
                        [&](const ToWire&) -> const FlowTable* {
                          run.sink.to_wire(packet);
                          return nullptr;
                        },
                        [&](const ToVport& to) -> const FlowTable* {
                          run.sink.to_vport(to.vport, packet);
                          return nullptr;
                        },
                        [&](const ToArray& to) -> const FlowTable* {
                          fan_out(run, *to.array, packet);
                          return nullptr;
                        },
                        [&](const ToSampler& to) { return sample(run, *to.sampler, packet); },
                    },
                    destination);
}

void Pipeline::deliver_fully(Run& run, const Destination& destination, Packet& packet) {
  if (const FlowTable* table = deliver(run, destination, packet)) go(run, table, packet);
}

const FlowTable* Pipeline::sample(Run& run, Sampler& sampler, Packet& packet) {
  if (sampler.sample()) {
    Copy copy(*this, packet);
    if (!copy.valid()) {
      drop(run, DropReason::kCopyLimit, packet);
    } else if (act(run, sampler.actions(), copy.packet())) {
      deliver_fully(run, sampler.actions().destination(), copy.packet());
    }
  }
  if (sampler.next() == nullptr) miss(run, packet);
  return sampler.next().get();
}

void Pipeline::fan_out(Run& run, const DestinationArray& array, Packet& packet) {
  for (const ArrayEntry& entry : array.entries) {
    const bool is_last = &entry == &array.entries.back();
    const bool is_untouched = entry.reformat == nullptr && leaves_frame(entry.destination);
    if (is_last || is_untouched) {
      if (entry.reformat != nullptr && !reformat(run, *entry.reformat, packet)) return;
      deliver_fully(run, entry.destination, packet);
      continue;
    }
    Copy copy(*this, packet);
    if (!copy.valid()) {
      drop(run, DropReason::kCopyLimit, packet);
    } else if (entry.reformat == nullptr || reformat(run, *entry.reformat, copy.packet())) {
      deliver_fully(run, entry.destination, copy.packet());
    }
  }
}

void Pipeline::miss(Run& run, Packet& packet) {
  switch (run.domain) {
    case Domain::kNicRx:
      return drop(run, DropReason::kMiss, packet);
    case Domain::kNicTx:
      return run.sink.to_wire(packet);
    case Domain::kFdb:
      return run.sink.to_vport(0, packet);
  }
}

void Pipeline::drop(Run& run, DropReason reason, const Packet& packet) {
  ++drops_[static_cast<std::size_t>(reason)];
  run.sink.dropped(reason, packet);
}

std::shared_ptr<FlowTable> RootTables::table(std::uint32_t priority) {
  if (const auto known = tables_.find(priority); known != tables_.end()) return known->second;
  // The table first: without memory for it, no priority is left with none.
  auto made = std::make_shared<FlowTable>();
  const auto at = tables_.emplace(priority, std::move(made)).first;
  if (const auto next = std::next(at); next != tables_.end()) at->second->set_miss_table(next->second);
  if (at != tables_.begin()) std::prev(at)->second->set_miss_table(at->second);
  return at->second;
}

}  // namespace verbs::mlx5::steering
