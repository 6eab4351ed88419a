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

int Object::close() {
  if (!open_) return 0;
  // Detaching a child may drop the last owner of this object.
  const std::shared_ptr<Object> self = shared_from_this();
  while (!children_.empty()) {
    const std::shared_ptr<Object> child = children_.back()->shared_from_this();
    if (const int error = child->close(); error != 0) return error;
  }
  if (calls_ > 0) return EBUSY;
  int error = release();
  if (error == EIO && went_with_device()) {
    error = 0;
  } else if (error != 0 && pointer() != nullptr) {
    return error;  // else the object itself is gone, although something that went with it was not destroyed
  }
  open_ = false;
  detach();
  return error;
}

void Object::dispose() {
  // No children are left here: they would have kept this object alive.
  if (open_) (void)release();
  open_ = false;
}

void Object::detach() {
  for (const Link& link : links_) link.parent->children_.erase(link.place);
  links_.clear();
}

}  // namespace verbs::core
