// The state of the addon for one JavaScript environment (the main thread or a worker). Environments share nothing.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "binding/lifetime/id_table.h"
#include "provider/environment.h"

namespace verbs::core {

class AddressHandle;
class Library;
class MemoryBlock;
class MemoryRegion;
class MemoryWindow;
class RequestQueue;

struct Environment final : provider::Environment {
  static std::shared_ptr<Environment> create(napi_env env);
  static const std::shared_ptr<Environment>& of(napi_env env);
  // For calls of a provider's addon, which has a napi_env of its own.
  static std::shared_ptr<Environment> of_thread();

  // The number by which events name a completion queue or queue pair.
  std::uintptr_t next_id = 1;
  // Work requests name memory regions, address handles and memory windows by these ids, so that no pointer ever comes
  // from JavaScript.
  IdTable<MemoryRegion> memory_regions;
  IdTable<AddressHandle> address_handles;
  IdTable<MemoryWindow> memory_windows;
  // The queue of a C wr_id, by the id in its upper half.
  IdTable<RequestQueue> request_queues;
  // The memory of allocMr, by its first address.
  std::map<std::uintptr_t, std::weak_ptr<MemoryBlock>> blocks;
  // Libraries by the name they were asked for.
  // By name and prefix.
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Library>> libraries;
};

}  // namespace verbs::core
