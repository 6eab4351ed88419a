// The objects of a command file by their handles, and every object of the process by its address.
//
// A handle is a small number, unique in its command file, as the kernel's are. The program holds a verbs structure
// (ibv_pd, ibv_mr, …) of each object, and one more for every context into which it imports the object. A call looks the
// structure up before it reads it (below): it must be known by its address, be of the right type, and have the context
// and the handle that it was given. A destroyed, foreign or garbled object is then an error, as in the kernel, and
// nothing is destroyed.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "abi/objects/later.h"

namespace verbs::soft::abi {

struct Known;

enum class Kind : std::uint8_t {
  kContext,
  kPd,
  kTd,
  kMr,
  kMw,
  kDm,
  kChannel,
  kCq,
  kXrcd,
  kSrq,
  kQp,
  kAh,
  kDmah,
  kBuf,
  kCompCntr,
  kFlow,
  kWq,
  kIndTable
};

class Handles {
 public:
  using Destroy = void (*)(void* object);    // destroys the object as the program would
  using Free = void (*)(void* ibv);          // frees the memory of a verbs structure only
  using Users = std::atomic<std::uint32_t>;  // counts objects while they are in the table; may be nullptr

  Handles() = default;
  ~Handles();
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  // From now on the object is counted in `users`, and no longer in its earlier counter.
  void set_users(const void* ibv, Users* users);
  // The object is destroyed, and its handle is free. Call it before the memory of the structure is freed, which another
  // thread may get for a new object. Other structures of the object (imports) are no longer live and are freed by
  // unimport().
  void remove(const void* ibv);

  // Adds a verbs structure of an object that the caller uses.
  void add_import(std::uint32_t handle, void* ibv, Free free);
  // Frees a verbs structure and keeps the object. The first structure stays as long as the object does.
  static void unimport(void* ibv);

  // Whether destroy_all() is at work.
  bool is_being_destroyed() const;

  // Waits for the calls that have begun. Not while a fork's child has the calls of its parent's threads, which never
  // end.
  void wait_for_calls();

  // Waits for the calls of other threads, which then find no object any more, destroys the remaining objects, newest
  // first, and frees the verbs structures that were not unimported.
  void destroy_all();

  // The place of an object that is about to be created. Whatever needs memory happens in the constructor, so that an
  // object of the NIC never lacks a handle.
  class Place {
   public:
    // `object` is also the address of its verbs structure. `free`: the object can be imported.
    Place(Handles& handles, void* object, Kind kind, Destroy destroy, Free free = nullptr);
    ~Place();  // without publish(): gives the handle back
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    std::uint32_t handle() const { return handle_; }
    // The object is live. Its structure has its context and its handle.
    void publish(Users* users = nullptr);

   private:
    Handles& handles_;
    void* object_;
    std::uint32_t handle_;
    bool published_ = false;
  };

 private:
  friend class Uses;
  friend class Retirement;
  friend bool is_known(const void* ibv, Kind kind);

  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Entry {
    void* object = nullptr;
    Destroy destroy = nullptr;
    Free free = nullptr;
    Kind kind = Kind::kContext;
    Users* users = nullptr;
    std::uint64_t born = 0;                      // never 0 while the object is live
    std::uint32_t calls = 0;                     // that use it
    bool retiring = false;                       // a thread is destroying it
    std::uint32_t newer = kNone, older = kNone;  // the neighbours by age
  };

  // Under process_lock(): the object of a verbs structure. 0, `missing`, EINVAL or EBUSY.
  static int find(const void* ibv, Kind kind, int missing, Known* known);
  void erase(std::uint32_t handle);
  bool is_current(std::uint32_t handle, std::uint64_t born) const;
  bool is_closed_to_caller() const;
  bool destroy_newest_first();  // whether any could be destroyed

  // Guarded by process_lock().
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;  // has room for every handle
  std::uint32_t newest_ = kNone;
  std::uint32_t calls_ = 0;  // that use an object or a context
  std::thread::id closer_;   // the thread in destroy_all()
};

// Whether a live object, or one that is being destroyed, has this structure.
bool is_known(const void* ibv, Kind kind);

// Contexts have no handle. add_context() throws std::bad_alloc.
void add_context(ibv_context* context, Handles& handles);
// From now on only the calling thread can use the context. False if it is not live or another thread closes it.
bool begin_close(const ibv_context* context);
void remove_context(const ibv_context* context);

// How a call takes hold of the objects that the program passes, as the kernel does: by their handles. Objects that a
// call uses cannot be destroyed meanwhile by another thread (EBUSY).
//
// The data path (posting, polling, arming, the extended calls of a QP or CQ) looks nothing up, and does not read the
// handle: a pointer of a destroyed object there is the program's error, as with a vendor's driver. But another thread
// may destroy an object just now, and a pointer that is stale for a short time must not end the process. So the
// structures of destroyed objects linger (nic/base/containers.h) and say that they are (Live in objects.h): the call
// fails with EINVAL. This does not hold for a QP or CQ within a section of extended calls, and not when the device's
// last context is closed.

constexpr Kind kind_of(const ibv_context*) { return Kind::kContext; }
constexpr Kind kind_of(const ibv_pd*) { return Kind::kPd; }
constexpr Kind kind_of(const ibv_td*) { return Kind::kTd; }
constexpr Kind kind_of(const ibv_mr*) { return Kind::kMr; }
constexpr Kind kind_of(const ibv_mw*) { return Kind::kMw; }
constexpr Kind kind_of(const ibv_dm*) { return Kind::kDm; }
constexpr Kind kind_of(const ibv_comp_channel*) { return Kind::kChannel; }
constexpr Kind kind_of(const ibv_cq*) { return Kind::kCq; }
constexpr Kind kind_of(const ibv_xrcd*) { return Kind::kXrcd; }
constexpr Kind kind_of(const ibv_srq*) { return Kind::kSrq; }
constexpr Kind kind_of(const ibv_qp*) { return Kind::kQp; }
constexpr Kind kind_of(const ibv_ah*) { return Kind::kAh; }
constexpr Kind kind_of(const ibv_dmah*) { return Kind::kDmah; }
constexpr Kind kind_of(const ibv_buf*) { return Kind::kBuf; }
constexpr Kind kind_of(const ibv_comp_cntr*) { return Kind::kCompCntr; }
constexpr Kind kind_of(const ibv_flow*) { return Kind::kFlow; }
constexpr Kind kind_of(const ibv_wq*) { return Kind::kWq; }
constexpr Kind kind_of(const ibv_rwq_ind_table*) { return Kind::kIndTable; }

// The objects of one call, from add() to the end of the call.
class Uses {
 public:
  static constexpr std::size_t kMost = 8;  // of one call

  Uses() = default;
  ~Uses();
  Uses(const Uses&) = delete;
  Uses& operator=(const Uses&) = delete;

  // 0, or the kernel's errno. `missing` is the one for a handle that does not exist: EINVAL from a write command (most
  // calls), ENOENT from an ioctl. EINVAL for an object of another type, or another object's handle.
  template <typename Object>
  int add(const Object* ibv, int missing = EINVAL) {
    return add(ibv, kind_of(ibv), nullptr, missing);
  }
  // The same, and EINVAL for an object that is not in the command file `file`.
  template <typename Object>
  int add(const Object* ibv, const Handles& file, int missing = EINVAL) {
    return add(ibv, kind_of(ibv), &file, missing);
  }
  // The same for a type that is known at run time only.
  int add(const void* ibv, Kind kind, int missing) { return add(ibv, kind, nullptr, missing); }
  // The first verbs structure of an object by its handle; nullptr unless it is an importable object of that kind.
  void* add(Handles& file, std::uint32_t handle, Kind kind);

 private:
  struct Use {
    Handles* file;
    std::uint32_t handle;  // kNone for a context
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  int add(const void* ibv, Kind kind, const Handles* file, int missing);
  void note(Handles* file, std::uint32_t handle);

  std::array<Use, kMost> uses_{};
  std::size_t count_ = 0;
};

// An object that a call destroys. From begin() on no other call finds it; it is live again at the end of the call
// unless Handles::remove() was called for it.
class Retirement {
 public:
  Retirement() = default;
  ~Retirement();
  Retirement(const Retirement&) = delete;
  Retirement& operator=(const Retirement&) = delete;

  // 0; ENOENT or EINVAL, as Uses::add(); EBUSY: a call of another thread uses or destroys it.
  template <typename Object>
  int begin(const Object* ibv) {
    return begin(ibv, kind_of(ibv));
  }

 private:
  int begin(const void* ibv, Kind kind);

  Handles* file_ = nullptr;
  std::uint32_t handle_ = 0;
  std::uint64_t born_ = 0;
};

}  // namespace verbs::soft::abi
