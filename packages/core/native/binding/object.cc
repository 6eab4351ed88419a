#include "object.h"

namespace verbs::core {

Object::Object(verbs_core_kind kind, const std::vector<std::shared_ptr<Object>>& parents) : kind_(kind) {
  links_.reserve(parents.size());
  for (const std::shared_ptr<Object>& parent : parents) {
    parent->children_.push_back(this);
    links_.push_back({parent, std::prev(parent->children_.end())});
  }
}

Object::~Object() { Detach(); }

int Object::Close() {
  if (!open_) return 0;
  // Detaching a child may drop the last owner of this object.
  const std::shared_ptr<Object> self = shared_from_this();
  while (!children_.empty()) {
    const std::shared_ptr<Object> child = children_.back()->shared_from_this();
    if (const int error = child->Close(); error != 0) return error;
  }
  if (const int error = Release(); error != 0) return error;
  open_ = false;
  Detach();
  return 0;
}

void Object::Dispose() {
  // No children are left here: they would have kept this object alive.
  if (open_) (void)Release();
  open_ = false;
}

void Object::Detach() {
  for (const Link& link : links_) link.parent->children_.erase(link.place);
  links_.clear();
}

}  // namespace verbs::core
