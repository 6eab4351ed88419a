// The objects of a command file by their handles, and every object of the process by its address.
//
// A handle is a small number, unique in its command file, as the kernel's are. An object has one face, the structure
// that the program holds, and more when it was imported into another context. Whoever is given a face asks is_live()
// before touching it: so a pointer to an object that was destroyed is an error and not a read of freed memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace verbs::soft::abi {

// What can be imported is told apart.
enum class Kind : std::uint8_t { kPd, kMr, kDm, kOther };

class Handles {
 public:
  using Destroy = void (*)(void* object);  // destroys the object as the program would have
  using Free = void (*)(void* face);       // frees the memory of a face, nothing else

  Handles() = default;
  ~Handles();
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  using Users = std::atomic<std::uint32_t>;  // counts objects while they are in the table; may be nullptr

  // The face begins with `object`'s address.
  std::uint32_t add(void* object, Destroy destroy, Users* users = nullptr);
  std::uint32_t add_importable(void* object, Destroy destroy, Kind kind, Free free, Users* users = nullptr);
  // The object counts among others' users from now on.
  void set_users(std::uint32_t handle, Users* users);
  // The object is destroyed and the caller frees its face.
  void remove(std::uint32_t handle);

  // The first face of the object, or nullptr unless `handle` is an object of that kind.
  void* find(std::uint32_t handle, Kind kind) const;
  // One more face of the object. False if it is gone.
  bool add_face(std::uint32_t handle, void* face, Free free);
  // The object is destroyed through this face, which the caller frees. Its other faces are dead and wait for
  // drop_face().
  void remove(std::uint32_t handle, const void* face);
  // The program gives a face back and leaves the object alone. The first face stays as long as the object does.
  static void drop_face(void* face);

  // What is still there, newest first, and the faces that nobody has given back.
  void destroy_all();

 private:
  struct Entry {
    void* object = nullptr;
    Destroy destroy = nullptr;
    Free free = nullptr;
    Kind kind = Kind::kOther;
    Users* users = nullptr;
    std::uint64_t born = 0;  // never 0 while the object is there
  };

  void erase(std::uint32_t handle);
  bool is_current(std::uint32_t handle, std::uint64_t born) const;
  std::size_t destroy_newest_first();
  friend bool is_live(const void* face);

  // Guarded by process_lock().
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
};

// Whether this library made the object and it was not destroyed since. Also for contexts.
bool is_live(const void* face);
void add_context(const void* context);
void remove_context(const void* context);

}  // namespace verbs::soft::abi
