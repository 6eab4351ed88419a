#include "kernel/context.h"

#include <cerrno>

namespace verbs::uverbs {

std::uint32_t Context::add(Object object) {
  std::uint32_t handle = 0;
  while (objects_.count(handle) != 0) ++handle;
  for (std::uint32_t held : object.holds) ++objects_.at(held).users;
  objects_.emplace(handle, std::move(object));
  return handle;
}

Object* Context::find(Type type, std::uint32_t handle) {
  const auto found = objects_.find(handle);
  return found != objects_.end() && found->second.type == type ? &found->second : nullptr;
}

Object* Context::find_any(std::uint32_t handle) {
  const auto found = objects_.find(handle);
  return found != objects_.end() ? &found->second : nullptr;
}

int Context::destroy(Type type, std::uint32_t handle, std::uint32_t* events) {
  Object* object = find(type, handle);
  if (object == nullptr) return ENOENT;
  if (object->users != 0) return EBUSY;
  if (events != nullptr) *events = object->events;
  for (std::uint32_t held : object->holds) --objects_.at(held).users;
  objects_.erase(handle);
  return 0;
}

}  // namespace verbs::uverbs
