// A device: its limits, and the flow tables for received and transmitted frames.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "model/device/capabilities.h"
#include "steering/pipeline/pipeline.h"
#include "steering/pipeline/root_tables.h"

namespace verbs::mlx5::model {

namespace steering = verbs::mlx5::steering;

class FlowEntry;

// Each direction has tables of its own.
enum class Direction : std::uint8_t { kReceive, kTransmit };

// How many objects of each limited kind exist.
struct Quota {
  std::uint32_t reformats = 0;
  std::uint32_t modify_headers = 0;
  std::uint32_t counters = 0;
  std::uint32_t tables = 0;
};

// One for each device of the configuration. Never destroyed.
class Device {
 public:
  explicit Device(ibv_device* its_ibv) : ibv(its_ibv) {}

  // The number by which commands and programs name a table.
  std::uint32_t id_of(const steering::FlowTable& table) {
    const auto [entry, added] = table_ids_.try_emplace(&table, next_id);
    if (added) ++next_id;
    return entry->second;
  }

  steering::RootTables& root(Direction direction) { return direction == Direction::kReceive ? receive : transmit; }

  ibv_device* const ibv;
  Capabilities capabilities;

  // Under the model's mutex.
  Quota quota;
  std::uint32_t next_id = 1;  // tables, counters and TIRs share one range of numbers
  std::unordered_map<const steering::Rule*, std::shared_ptr<FlowEntry>> entries;

  // Under the device's lock.
  steering::RootTables receive, transmit;
  steering::Pipeline receive_pipeline, transmit_pipeline;
  std::array<std::uint64_t*, steering::kDropReasons> drops{};
  std::uint32_t clocked = 0;  // number of actions that need the time

 private:
  std::unordered_map<const steering::FlowTable*, std::uint32_t>
      table_ids_;  // of root tables, which are never destroyed
};

// The model's device for an ibv_device; nullptr if add_device() was not called. Lock-free: the frame path calls it.
Device* find_device(const ibv_device* ibv);
Device& add_device(ibv_device* ibv);

}  // namespace verbs::mlx5::model
