// The base of every verbs object that JavaScript can hold.
//
// Whatever order JavaScript closes or forgets things in, the C library sees children destroyed before parents: an
// object keeps its parents alive, and closing it closes its children first, newest first. That includes children that
// JavaScript cannot reach any more and whose finalizers have not run yet. All objects of an environment live on its one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "verbs_core.h"

namespace verbs::core {

class Context;

inline constexpr verbs_core_kind kFirstKind = VERBS_CORE_CONTEXT;
inline constexpr verbs_core_kind kLastKind = VERBS_CORE_DMAH;

class Object : public std::enable_shared_from_this<Object> {
 public:
  virtual ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  // Destroys the children and then the object itself. Returns 0, or the errno of the destroy call that failed and, in
  // `failed`, its object, which then stays open unless it went with its device. Closing a closed object does nothing.
  // EBUSY: a call uses it.
  int close(const Object** failed = nullptr);
  // From one to the other a call of the C library uses the object. Arguments of the call may run JavaScript (getters,
  // proxies), which must not close what the call has looked up.
  void begin_call() { calls_++; }
  void end_call() { calls_--; }
  bool open() const { return open_; }
  // The name of its destroy function, for errors; empty for a provider's object that JavaScript does not hold.
  const std::string& destroyer() const { return destroyer_; }
  void set_destroyer(std::string name) { destroyer_ = std::move(name); }
  verbs_core_kind kind() const { return kind_; }
  // The ibv_* structure, null once closed.
  virtual void* pointer() const = 0;
  // The context that the object belongs to, itself for a context.
  virtual const Context& context() const = 0;
  // Null for a provider's object that belongs to no context.
  virtual const Context* context_if_any() const { return &context(); }
  // Number of objects of that kind on this thread, open or closed. JavaScript holds them, other objects need them as
  // parents, or posted requests use them.
  static std::size_t count_of(verbs_core_kind kind);

  // Keeps it alive until unpin(), as often as it was called. On the data path: a shared_ptr would cost two operations
  // on its counter that no other processor may disturb.
  void pin() {
    if (pins_++ == 0) pinned_ = shared_from_this();
  }
  void unpin() {
    if (--pins_ != 0) return;
    const std::shared_ptr<Object> last = std::move(pinned_);  // may be the last owner
  }

 protected:
  Object(verbs_core_kind kind, const std::vector<std::shared_ptr<Object>>& parents);
  // Calls the C library's destroy function: 0 or an errno.
  virtual int destroy() = 0;
  // Forgets the ibv_* structure and what is kept for it: it was destroyed, or went with its device. Then `error` is
  // what the destroy function answered, else 0. Returns the errno of something that had to go with it and did not, or
  // 0.
  virtual int destroyed(int error) = 0;
  // Other parents from now on.
  void set_parents(const std::vector<std::shared_ptr<Object>>& parents);
  // One more parent from now on, which closes it.
  void add_parent(const std::shared_ptr<Object>& parent);
  // The object uses a younger one from now on, so it must be closed first.
  void become_newest();
  // Every final class calls it in its destructor, while destroy() and destroyed() are still its own.
  void dispose();

 private:
  struct Link {
    std::shared_ptr<Object> parent;
    std::list<Object*>::iterator place;
  };
  void detach();
  // Until the context is closed. Of the room above, as the next one: context.cc.
  void keep_parents();
  // Whether a destroy function's errno means that only.
  bool went_with_device(int error) const;

  verbs_core_kind kind_;
  bool open_ = true;
  std::string destroyer_;
  std::uint32_t calls_ = 0;
  std::uint32_t pins_ = 0;
  std::shared_ptr<Object> pinned_;  // itself, while pinned
  std::list<Object*> children_;     // oldest first; each of them keeps this object alive
  std::vector<Link> links_;
};

// Makes the owner of a new object of the C library; without memory for the owner, `undo` destroys that object.
template <typename Owner, typename Undo, typename... Arguments>
std::shared_ptr<Owner> own_or(Undo undo, Arguments&&... arguments) {
  try {
    return std::make_shared<Owner>(std::forward<Arguments>(arguments)...);
  } catch (...) {
    undo();
    throw;
  }
}

}  // namespace verbs::core
