// A device: its limits, and the flow tables that frames on their way in and out meet.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "model/device/capabilities.h"
#include "steering/pipeline/pipeline.h"
#include "steering/pipeline/root_tables.h"

namespace verbs::mlx5 {

class FlowEntry;

// Directions that have tables of their own.
enum class Direction : std::uint8_t { kReceive, kTransmit };

// What a device has of a kind that is limited.
struct Quota {
  std::uint32_t reformats = 0;
  std::uint32_t modify_headers = 0;
  std::uint32_t counters = 0;
  std::uint32_t tables = 0;
};

// One for every device of the configuration, for ever.
class Device {
 public:
  explicit Device(ibv_device* its_face) : face(its_face) {}

  // The number of a table, for commands and programs.
  std::uint32_t id_of(const steering::FlowTable& table) {
    const auto [entry, added] = table_ids_.try_emplace(&table, next_id);
    if (added) ++next_id;
    return entry->second;
  }

  steering::RootTables& root(Direction direction) { return direction == Direction::kReceive ? receive : transmit; }

  ibv_device* const face;
  Capabilities capabilities;

  // Under the model's mutex.
  Quota quota;
  std::uint32_t next_id = 1;  // of tables, counters, TIRs: one range of numbers for all
  std::unordered_map<const steering::Rule*, std::shared_ptr<FlowEntry>> entries;

  // Under the device's lock.
  steering::RootTables receive, transmit;
  steering::Pipeline receive_pipeline, transmit_pipeline;
  std::array<std::uint64_t*, steering::kDropReasons> drops{};
  std::uint32_t clocked = 0;  // actions that ask for the time

 private:
  std::unordered_map<const steering::FlowTable*, std::uint32_t> table_ids_;  // of root tables, which stay
};

// The device of that face; nullptr: none was known yet. Takes no lock: for the path of frames, too.
Device* find_device(const ibv_device* face);
Device& add_device(ibv_device* face);

}  // namespace verbs::mlx5
