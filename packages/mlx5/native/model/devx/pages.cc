// mlx5dv_devx_alloc_uar, mlx5dv_pp_alloc, and their ends.
//
// Queues of devx commands are looked at by a thread, so that nothing is behind a doorbell, and no queue is paced: the
// pages can be written, and entries have their numbers.
#include "model/devx/pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "model/device/objects.h"
#include "steering/headers/bytes.h"

namespace verbs::mlx5::model {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kDoorbells = 0x800;  // where the registers start that ring one

class Uar {
 public:
  Uar(Context& owner, void* page) : owner_(&owner), page_(page) {
    handle.base_addr = page;
    handle.reg_addr = static_cast<std::uint8_t*>(page) + kDoorbells;
    handle.page_id = owner.device->next_id++;
  }
  ~Uar() { munmap(page_, kPage); }
  Uar(const Uar&) = delete;
  Uar& operator=(const Uar&) = delete;
  const Context* owner() const { return owner_; }

  mlx5dv_devx_uar handle{};

 private:
  Context* owner_;
  void* page_;
};

constexpr std::size_t kPacingSize = 48;  // of the command that sets a rate
constexpr std::uint16_t kLastPacing = 127;

struct Pacing {
  mlx5dv_pp handle{};
  Context* owner = nullptr;
  std::array<std::uint8_t, kPacingSize> settings{};
  bool dedicated = false;
};

// The living objects by the structure of them that programs have.
template <typename T, typename Handle>
class ByHandle {
 public:
  Handle* add(std::unique_ptr<T> object) {
    Handle* handle = &object->handle;
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  void remove(const Handle* handle) { objects_.erase(handle); }
  template <typename Condition>
  void remove_if(Condition&& condition) {
    std::erase_if(objects_, [&](const auto& entry) { return condition(*entry.second); });
  }
  template <typename Visit>
  void each(Visit&& visit) const {
    for (const auto& [handle, object] : objects_) visit(*object);
  }

 private:
  std::unordered_map<const Handle*, std::unique_ptr<T>> objects_;
};

ByHandle<Uar, mlx5dv_devx_uar>& uars() { return lasting<ByHandle<Uar, mlx5dv_devx_uar>>(); }
ByHandle<Pacing, mlx5dv_pp>& pacing() { return lasting<ByHandle<Pacing, mlx5dv_pp>>(); }

// The number of an entry with these settings: that of the others with the same ones, or the lowest free. 0: none is
// left.
std::uint16_t number_of(const Pacing& wanted) {
  std::array<bool, kLastPacing + 1> taken{};
  std::uint16_t same = 0;
  pacing().each([&](const Pacing& each) {
    if (each.owner->device != wanted.owner->device) return;
    taken.at(each.handle.index) = true;
    if (!each.dedicated && each.settings == wanted.settings) same = each.handle.index;
  });
  if (same != 0 && !wanted.dedicated) return same;
  for (std::uint16_t i = 1; i <= kLastPacing; ++i) {
    if (!taken.at(i)) return i;
  }
  return 0;
}

}  // namespace

mlx5dv_devx_uar* mlx5dv_devx_alloc_uar(ibv_context* verbs, std::uint32_t flags) {
  constexpr std::uint32_t kBlueFlame = 0, kNonCached = 1, kDedicated = 1u << 31;
  if (!verbs) return null_with<mlx5dv_devx_uar>(EINVAL);
  const ModelLock guard(model_mutex());
  Context* context = context_of(verbs);
  if (!context || (flags != kBlueFlame && flags != kNonCached && flags != kDedicated)) {
    return null_with<mlx5dv_devx_uar>(EOPNOTSUPP);
  }
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  std::unique_ptr<Uar> uar;
  try {
    uar = std::make_unique<Uar>(*context, page);
  } catch (...) {
    munmap(page, kPage);
    throw;
  }
  return uars().add(std::move(uar));
}

void mlx5dv_devx_free_uar(mlx5dv_devx_uar* uar) {
  const ModelLock guard(model_mutex());
  uars().remove(uar);
}

mlx5dv_pp* mlx5dv_pp_alloc(ibv_context* verbs, std::size_t size, const void* settings, std::uint32_t flags) {
  constexpr std::uint32_t kDedicatedIndex = 1;
  if (!verbs || !settings) return null_with<mlx5dv_pp>(EINVAL);
  const ModelLock guard(model_mutex());
  Context* context = context_of(verbs);
  if (!context) return null_with<mlx5dv_pp>(EOPNOTSUPP);
  if (size == 0 || size > kPacingSize || (flags & ~kDedicatedIndex) != 0) return null_with<mlx5dv_pp>(EINVAL);
  auto entry = std::make_unique<Pacing>();
  std::memcpy(entry->settings.data(), settings, size);
  // They start with the rate, which is not 0.
  if (steering::load32(entry->settings.data()) == 0) return null_with<mlx5dv_pp>(EINVAL);
  entry->owner = context;
  entry->dedicated = flags != 0;
  entry->handle.index = number_of(*entry);
  if (entry->handle.index == 0) return null_with<mlx5dv_pp>(ENOSPC);
  return pacing().add(std::move(entry));
}

void mlx5dv_pp_free(mlx5dv_pp* pp) {
  const ModelLock guard(model_mutex());
  pacing().remove(pp);
}

void forget_uars(Context& context) {
  uars().remove_if([&](const Uar& uar) { return uar.owner() == &context; });
}

void forget_pacing(Context& context) {
  pacing().remove_if([&](const Pacing& entry) { return entry.owner == &context; });
}

}  // namespace verbs::mlx5::model
