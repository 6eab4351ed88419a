// One opened device file: its handles, event descriptors and whether the device is still there.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "kernel/object.h"

namespace verbs::uverbs {

class Context {
 public:
  explicit Context(int number) : number_(number) {}

  // Adds an object under the lowest free handle, which is what the kernel gives.
  std::uint32_t add(Object object);
  // nullptr: there is no such object of this type.
  Object* find(Type type, std::uint32_t handle);
  Object* find_any(std::uint32_t handle);
  // 0, ENOENT, or EBUSY as long as another object holds it. `events`: how many were sent about it.
  int destroy(Type type, std::uint32_t handle, std::uint32_t* events = nullptr);
  void destroy_all() { objects_.clear(); }

  const std::map<std::uint32_t, Object>& objects() const { return objects_; }
  int number() const { return number_; }

  bool removed = false;
  int async_writer = -1;                    // the end that events are written to
  std::map<int, int> channel_writers;       // completion channel: descriptor of the program, our end
  std::map<std::uint64_t, Queue> mappings;  // rxe, hbl: what an offset of mmap stands for
  std::uint64_t ports_open = 0;             // hbl: bit n is port n
  std::uint64_t ports_ready = 0;            // hbl: those that were set up
  std::uint64_t ports_advanced = 0;         // hbl: those with the advanced functions

 private:
  int number_;
  std::map<std::uint32_t, Object> objects_;
};

}  // namespace verbs::uverbs
