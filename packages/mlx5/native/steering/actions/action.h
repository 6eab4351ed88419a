// The actions of a rule.
//
// The order of execution is fixed and independent of the order given: decapsulation, VLAN pop, counter, VLAN push,
// modify header, tag, meter and first hit, encapsulation, destination. Actions of one kind keep the order given.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "steering/actions/drop_reason.h"
#include "steering/actions/meter.h"
#include "steering/actions/modify_header.h"
#include "steering/actions/reformat.h"

namespace verbs::mlx5::steering {

class FlowTable;
class Sampler;
struct DestinationArray;

struct ReformatAction {  // decapsulation or encapsulation, by its type
  std::shared_ptr<const Reformat> reformat;
};
struct PopVlan {};  // a frame without a tag stays as it is
struct PushVlan {
  std::uint32_t header = 0;  // TPID << 16 | TCI
};
struct CountAction {
  std::shared_ptr<Counter> counter;
};
struct ModifyAction {
  std::shared_ptr<const ModifyHeader> modify;
};
struct SetTag {
  std::uint32_t tag = 0;  // 24 bits
};
struct MeterAction {  // writes the colour into the low 8 bits of register C `reg_c`
  std::shared_ptr<Meter> meter;
  std::uint8_t reg_c = 0;
};
// Copies the flag to the register's lowest bit; then, with `set`, sets the flag.
struct FirstHitAction {
  std::shared_ptr<bool> flag;
  std::uint8_t reg_c = 0;
  bool set = false;
};

// Destinations: at most one. Without a destination a frame is a miss.
struct Drop {};
struct DefaultMiss {};
struct ToReceiver {  // an object of the caller's
  void* receiver = nullptr;
};
struct ToTable {
  std::shared_ptr<FlowTable> table;
};
struct ToWire {};
struct ToVport {
  std::uint32_t vport = 0;
};
struct ToArray {
  std::shared_ptr<const DestinationArray> array;
};
struct ToSampler {
  std::shared_ptr<Sampler> sampler;
};

using Destination = std::variant<DefaultMiss, Drop, ToReceiver, ToTable, ToWire, ToVport, ToArray, ToSampler>;

struct ArrayEntry {
  std::shared_ptr<const Reformat> reformat;  // may be null
  Destination destination;
};
struct DestinationArray {
  std::vector<ArrayEntry> entries;  // each gets a copy of the frame, in this order
};

using Action = std::variant<ReformatAction, PopVlan, PushVlan, CountAction, ModifyAction, SetTag, MeterAction,
                            FirstHitAction, Destination>;

// The actions of a rule in the order of execution. Rules share actions: use_count() of an action tells whether any rule
// uses it.
class ActionList {
 public:
  ActionList() = default;
  // The last one of several destinations takes effect.
  explicit ActionList(std::vector<Action> actions);

  const std::vector<Action>& steps() const { return steps_; }
  const Destination& destination() const { return destination_; }

 private:
  std::vector<Action> steps_;  // without the destination
  Destination destination_ = DefaultMiss{};
};

}  // namespace verbs::mlx5::steering
