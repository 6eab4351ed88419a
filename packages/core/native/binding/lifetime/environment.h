// What the addon keeps for one JavaScript environment (the main thread or a worker): nothing is shared between them.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "binding/lifetime/id_table.h"
#include "binding/lifetime/napi_setup.h"

struct uv_loop_s;

namespace verbs::core {

class AddressHandle;
class FdWatcher;
class Library;
class MemoryBlock;
class MemoryRegion;
class MemoryWindow;
class RequestQueue;

struct Environment {
  static std::shared_ptr<Environment> Create(napi_env env);
  static const std::shared_ptr<Environment>& Of(napi_env env);
  // For calls of a sibling addon, whose napi_env is another.
  static std::shared_ptr<Environment> OfThread();

  napi_env env = nullptr;
  uv_loop_s* loop = nullptr;
  // What events call a completion queue or queue pair.
  std::uintptr_t next_id = 1;
  // Work requests name memory regions, address handles and memory windows by these ids, so that no pointer ever comes
  // from JavaScript.
  IdTable<MemoryRegion> memory_regions;
  IdTable<AddressHandle> address_handles;
  IdTable<MemoryWindow> memory_windows;
  // What a wr_id of the C side belongs to.
  IdTable<RequestQueue> request_queues;
  // The memory that allocMr gave out, by its first address.
  std::map<std::uintptr_t, std::weak_ptr<MemoryBlock>> blocks;
  // Libraries by the name they were asked for.
  std::map<std::string, std::shared_ptr<const Library>> libraries;
  // Their handles must leave the loop before the environment ends.
  std::set<FdWatcher*> watchers;
};

}  // namespace verbs::core
