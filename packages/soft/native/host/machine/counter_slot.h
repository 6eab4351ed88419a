// Where a device in operation counts, for all processes of the machine to read (machine/counter_file.h). The NIC counts
// in the slot itself, so that a reader sees every packet at once. The counters of links and of a vendor's model lie
// elsewhere, and are copied when publish() is called.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nic/base/limits.h"

namespace verbs::soft::host {

class CounterSlot {
 public:
  using Counter = std::function<void(const char* name, std::uint64_t value)>;
  // Calls a Counter for each of some counters, always the same ones in the same order.
  using Report = std::function<void(const Counter& counter)>;

  // For a device with that name. `own` are the names of the NIC's counters, in the order of DeviceCounters, nullptr for
  // those that the device does not have. nullptr without a machine, or if its file cannot be written: the process
  // counts for itself then.
  static std::unique_ptr<CounterSlot> claim(const std::string& device, const std::vector<const char*>& own,
                                            Report others);
  ~CounterSlot();
  CounterSlot(const CounterSlot&) = delete;
  CounterSlot& operator=(const CounterSlot&) = delete;

  nic::DeviceCounters* counters() { return reinterpret_cast<nic::DeviceCounters*>(words_); }
  void publish();

 private:
  CounterSlot() = default;
  bool open(const std::string& device, const std::vector<const char*>& own);
  bool enter_names(const std::vector<const char*>& own);
  bool take_slot();

  struct Copied {
    std::size_t place;
    std::uint64_t before;  // what the slot had, less what the process had counted already
  };

  int fd_ = -1;
  void* mapping_ = nullptr;
  std::uint64_t* words_ = nullptr;
  Report others_;
  std::vector<Copied> copied_;
};

}  // namespace verbs::soft::host
