// What a rule does with a frame.
//
// The order is fixed, whatever the order in which a rule was given them: decapsulation, VLAN pop, counter, VLAN push,
// modify header, tag, meter and first hit, encapsulation, then the destination. Of one kind the given order holds.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "steering/actions/counter.h"
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
struct PopVlan {};  // a frame without a tag goes on as it is
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
struct MeterAction {  // the colour goes into the low 8 bits of register C `reg_c`
  std::shared_ptr<Meter> meter;
  std::uint8_t reg_c = 0;
};
// The register's lowest bit becomes whether the flag was set before; `set` sets it.
struct FirstHitAction {
  std::shared_ptr<bool> flag;
  std::uint8_t reg_c = 0;
  bool set = false;
};

// Destinations: at most one. Without one a frame goes where a miss goes.
struct Drop {};
struct DefaultMiss {};
struct ToReceiver {  // whatever the caller receives with
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
  std::vector<ArrayEntry> entries;  // each gets the frame as it came; in this order
};

using Action = std::variant<ReformatAction, PopVlan, PushVlan, CountAction, ModifyAction, SetTag, MeterAction,
                            FirstHitAction, Destination>;

// The actions of a rule in the order in which they are done. It shares them: use_count() of a shared action tells
// whether any rule uses it.
class ActionList {
 public:
  ActionList() = default;
  // Of several destinations the last counts.
  explicit ActionList(std::vector<Action> actions);

  const std::vector<Action>& steps() const { return steps_; }
  const Destination& destination() const { return destination_; }

 private:
  std::vector<Action> steps_;  // without the destination
  Destination destination_ = DefaultMiss{};
};

}  // namespace verbs::mlx5::steering
