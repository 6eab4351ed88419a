// Lists of devices and representors; how they are opened and closed.
#include "model/bluefield/device.h"

#include <mutex>
#include <set>

#include "model/abi/common/versions.h"
#include "model/base/boundary.h"
#include "verbs_soft_fork.h"

using verbs::doca_comm::model::Bluefield;
using verbs::doca_comm::model::contained;
using verbs::doca_comm::model::Fault;
using verbs::doca_comm::model::Faults;
using verbs::soft::model::take_leaf_at_fork;

namespace {

// The arrays that the user holds: a pointer that is none of them is rejected, not freed. The elements are not copied.
template <typename Info>
class Lists {
 public:
  doca_error_t create(const std::vector<Info*>& elements, Info*** list, std::uint32_t* count) {
    if (Faults::get().next(Fault::kAllocate) != 0) return DOCA_ERROR_NO_MEMORY;
    auto** array = new Info*[elements.size() + 1]();
    std::copy(elements.begin(), elements.end(), array);
    const std::lock_guard guard(mutex_);
    out_.insert(array);
    *list = array;
    *count = static_cast<std::uint32_t>(elements.size());
    return DOCA_SUCCESS;
  }

  doca_error_t destroy(Info** list) {
    const std::lock_guard guard(mutex_);
    if (out_.erase(list) == 0) return DOCA_ERROR_INVALID_VALUE;
    delete[] list;
    return DOCA_SUCCESS;
  }

  std::mutex& lock() { return mutex_; }

 private:
  std::mutex mutex_;
  std::set<Info**> out_;
};

Lists<doca_devinfo>& devices() {
  static auto* lists = new Lists<doca_devinfo>;
  return *lists;
}
Lists<doca_devinfo_rep>& representors() {
  static auto* lists = new Lists<doca_devinfo_rep>;
  return *lists;
}

std::mutex& devices_lock() { return devices().lock(); }
std::mutex& representors_lock() { return representors().lock(); }

// When the library is loaded: a fork that has begun before a lock is registered does not know it.
[[gnu::constructor]] void register_locks() {
  take_leaf_at_fork<devices_lock>();
  take_leaf_at_fork<representors_lock>();
}

}  // namespace

extern "C" {

doca_error_t doca_devinfo_create_list(doca_devinfo*** dev_list, std::uint32_t* nb_devs) {
  return contained([&]() -> doca_error_t {
    if (!dev_list || !nb_devs) return DOCA_ERROR_INVALID_VALUE;
    std::vector<doca_devinfo*> found;
    if (const doca_error_t error = Bluefield::get().list(&found)) return error;
    return devices().create(found, dev_list, nb_devs);
  });
}

doca_error_t doca_devinfo_destroy_list(doca_devinfo** dev_list) {
  return contained([&]() -> doca_error_t { return devices().destroy(dev_list); });
}

doca_error_t doca_devinfo_rep_create_list(doca_dev* dev, int filter, doca_devinfo_rep*** dev_list_rep,
                                          std::uint32_t* nb_devs_rep) {
  return contained([&]() -> doca_error_t {
    constexpr int kNet = DOCA_DEVINFO_REP_FILTER_NET, kEmulated = DOCA_DEVINFO_REP_FILTER_EMULATED;
    if (!dev || !dev_list_rep || !nb_devs_rep || (filter & ~(kNet | kEmulated)) != 0) return DOCA_ERROR_INVALID_VALUE;
    if (!Bluefield::get().is_open(dev)) return DOCA_ERROR_INVALID_VALUE;
    if (!dev->info->options.dpu) return DOCA_ERROR_NOT_SUPPORTED;
    std::vector<doca_devinfo_rep*> found;
    // All representors are of network functions.
    if (filter == DOCA_DEVINFO_REP_FILTER_ALL || (filter & kNet) != 0) {
      for (const auto& representor : dev->info->representors) found.push_back(&representor->info);
    }
    return representors().create(found, dev_list_rep, nb_devs_rep);
  });
}

doca_error_t doca_devinfo_rep_destroy_list(doca_devinfo_rep** dev_list_rep) {
  return contained([&]() -> doca_error_t { return representors().destroy(dev_list_rep); });
}

doca_error_t doca_devinfo_list_create(doca_devinfo*** dev_list, std::uint32_t* nb_devs) {
  return doca_devinfo_create_list(dev_list, nb_devs);
}
doca_error_t doca_devinfo_list_destroy(doca_devinfo** dev_list) { return doca_devinfo_destroy_list(dev_list); }
doca_error_t doca_devinfo_rep_list_create(doca_dev* dev, int filter, doca_devinfo_rep*** dev_list_rep,
                                          std::uint32_t* nb_devs_rep) {
  return doca_devinfo_rep_create_list(dev, filter, dev_list_rep, nb_devs_rep);
}
doca_error_t doca_devinfo_rep_list_destroy(doca_devinfo_rep** dev_list_rep) {
  return doca_devinfo_rep_destroy_list(dev_list_rep);
}

doca_error_t doca_dev_open_both(doca_devinfo* devinfo, doca_dev** dev) {
  return contained([&]() -> doca_error_t {
    if (!devinfo || !dev || !Bluefield::get().knows(devinfo)) return DOCA_ERROR_INVALID_VALUE;
    return Bluefield::get().open(devinfo, dev);
  });
}
doca_error_t doca_dev_close_both(doca_dev* dev) {
  return contained([&]() -> doca_error_t { return dev ? Bluefield::get().close(dev) : DOCA_ERROR_INVALID_VALUE; });
}
doca_devinfo* doca_dev_as_devinfo_both(const doca_dev* dev) {
  return verbs::soft::contain_call([&]() -> doca_devinfo* { return Bluefield::get().knows(dev) ? dev->info : nullptr; },
                                   [](int) { return nullptr; });
}

doca_error_t doca_dev_rep_open_both(doca_devinfo_rep* devinfo, doca_dev_rep** dev_rep) {
  return contained([&]() -> doca_error_t {
    if (!devinfo || !dev_rep || !Bluefield::get().knows(devinfo)) return DOCA_ERROR_INVALID_VALUE;
    return Bluefield::get().open(devinfo, dev_rep);
  });
}
doca_error_t doca_dev_rep_close_both(doca_dev_rep* dev) {
  return contained([&]() -> doca_error_t { return dev ? Bluefield::get().close(dev) : DOCA_ERROR_INVALID_VALUE; });
}
doca_devinfo_rep* doca_dev_rep_as_devinfo_both(doca_dev_rep* dev_rep) {
  return verbs::soft::contain_call(
      [&]() -> doca_devinfo_rep* { return Bluefield::get().knows(dev_rep) ? dev_rep->info : nullptr; },
      [](int) { return nullptr; });
}

}  // extern "C"

VERBS_DOCA_BOTH(doca_dev_open);
VERBS_DOCA_BOTH(doca_dev_close);
VERBS_DOCA_BOTH(doca_dev_as_devinfo);
VERBS_DOCA_BOTH(doca_dev_rep_open);
VERBS_DOCA_BOTH(doca_dev_rep_close);
VERBS_DOCA_BOTH(doca_dev_rep_as_devinfo);
