// The objects of a command file by their handles, and every object of the process by its address.
//
// A handle is a small number, unique in its command file, as the kernel's are. The program holds a verbs structure
// (ibv_pd, ibv_mr, …) of each object, and one more for every context into which it imports the object. A call that is
// given such a pointer checks is_live() before it reads the structure: a destroyed object is then an error and not a
// read of freed memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace verbs::soft::abi {

// The objects that can be imported; kOther cannot.
enum class Kind : std::uint8_t { kPd, kMr, kDm, kOther };

class Handles {
 public:
  using Destroy = void (*)(void* object);  // destroys the object as the program would
  using Free = void (*)(void* ibv);        // frees the memory of a verbs structure only

  Handles() = default;
  ~Handles();
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  using Users = std::atomic<std::uint32_t>;  // counts objects while they are in the table; may be nullptr

  // `object` is also the address of its verbs structure.
  std::uint32_t add(void* object, Destroy destroy, Users* users = nullptr);
  std::uint32_t add_importable(void* object, Destroy destroy, Kind kind, Free free, Users* users = nullptr);
  // From now on the object is counted in `users`, and no longer in its earlier counter.
  void set_users(std::uint32_t handle, Users* users);
  // The object is destroyed; the caller frees its verbs structure.
  void remove(std::uint32_t handle);

  // For an object whose memory another thread may get as soon as it is destroyed: retire() comes before the
  // destruction, and erase_retired() or restore() after it. From retire() on the object is not live. False if it was
  // not live before: of two threads that destroy one object, one gets true.
  bool retire(std::uint32_t handle, const void* ibv);
  void restore(std::uint32_t handle);
  void erase_retired(std::uint32_t handle);

  // The object's first verbs structure; nullptr unless `handle` is an object of that kind.
  void* find(std::uint32_t handle, Kind kind) const;
  // Adds a verbs structure of an imported object. False if the object is gone.
  bool add_import(std::uint32_t handle, void* ibv, Free free);
  // The object is destroyed through this verbs structure, which the caller frees. The other structures of the object
  // are no longer live and are freed by unimport().
  void remove(std::uint32_t handle, const void* ibv);
  // Frees a verbs structure and keeps the object. The first structure stays as long as the object does.
  static void unimport(void* ibv);

  // Destroys the remaining objects, newest first, and frees the verbs structures that were not unimported.
  void destroy_all();

 private:
  struct Entry {
    void* object = nullptr;
    Destroy destroy = nullptr;
    Free free = nullptr;
    Kind kind = Kind::kOther;
    Users* users = nullptr;
    std::uint64_t born = 0;  // never 0 while the object exists
  };

  void erase(std::uint32_t handle);
  bool is_current(std::uint32_t handle, std::uint64_t born) const;
  std::size_t destroy_newest_first();
  friend bool is_live(const void* ibv);

  // Guarded by process_lock().
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
};

// Whether this library created the object and it still exists. Also for contexts.
bool is_live(const void* ibv);
void add_context(const void* context);
void remove_context(const void* context);

}  // namespace verbs::soft::abi
