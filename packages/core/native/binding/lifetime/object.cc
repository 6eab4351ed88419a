#include "binding/lifetime/object.h"

#include <array>
#include <cerrno>

namespace verbs::core {
namespace {

// All objects of an environment live on its one thread.
thread_local std::array<std::size_t, kLastKind + 1> counts{};

}  // namespace

Object::Object(verbs_core_kind kind, const std::vector<std::shared_ptr<Object>>& parents) : kind_(kind) {
  set_parents(parents);
  counts[kind_]++;
}

void Object::set_parents(const std::vector<std::shared_ptr<Object>>& parents) {
  // The old ones last, or the object could lose its last owner.
  std::vector<Link> links;
  links.reserve(parents.size());
  for (const std::shared_ptr<Object>& parent : parents) {
    parent->children_.push_back(this);
    links.push_back({parent, std::prev(parent->children_.end())});
  }
  links_.swap(links);
  for (const Link& link : links) link.parent->children_.erase(link.place);
}

void Object::add_parent(const std::shared_ptr<Object>& parent) {
  links_.reserve(links_.size() + 1);
  parent->children_.push_back(this);
  links_.push_back({parent, std::prev(parent->children_.end())});
}

void Object::become_newest() {
  for (const Link& link : links_) {
    std::list<Object*>& children = link.parent->children_;
    children.splice(children.end(), children, link.place);
  }
}

Object::~Object() {
  counts[kind_]--;
  detach();
}

std::size_t Object::count_of(verbs_core_kind kind) { return counts[kind]; }

int Object::close(const Object** failed) {
  if (!open_) return 0;
  // Detaching a child may drop the last owner of this object.
  const std::shared_ptr<Object> self = shared_from_this();
  while (!children_.empty()) {
    const std::shared_ptr<Object> child = children_.back()->shared_from_this();
    if (const int error = child->close(failed); error != 0) return error;
  }
  if (failed != nullptr) *failed = this;
  if (calls_ > 0) return EBUSY;
  const int error = destroy();
  if (error != 0 && !went_with_device(error)) return error;
  open_ = false;
  const int left = destroyed(error);
  detach();
  return error == 0 ? left : 0;
}

void Object::dispose() {
  // No children are left here: they would have kept this object alive.
  if (!open_) return;
  open_ = false;
  const int error = destroy();
  // Another object names it by a number, which only the device knows: the device goes on with the memory behind it.
  if (error != 0 && !went_with_device(error)) keep_parents();
  (void)destroyed(error);
}

void Object::detach() {
  for (const Link& link : links_) link.parent->children_.erase(link.place);
  links_.clear();
}

}  // namespace verbs::core
