// The counters of the doorbells that a device drops, one for each reason.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

struct ibv_device;

namespace verbs::hbl::model {

enum class DoorbellDrop : std::uint8_t {
  kWrongPort,    // it names another port than the FIFO's
  kNoQp,         // the port has no queue pair of that number
  kNoWorkQueue,  // the queue pair is not in RTS, or the port has no work queues
};
inline constexpr std::size_t kDoorbellDrops = 3;

// The NIC's counters of a device, by DoorbellDrop.
using DoorbellDrops = std::array<std::uint64_t*, kDoorbellDrops>;

// Makes the counters of a device. 0 or errno.
int add_doorbell_drops(ibv_device* device);
// Those counters; nullptr if the device has none.
const DoorbellDrops* find_doorbell_drops(const ibv_device* device);

}  // namespace verbs::hbl::model
