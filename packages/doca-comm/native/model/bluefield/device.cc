#include "model/bluefield/device.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>

#include "model/base/boundary.h"
#include "model/base/error.h"
#include "model/bluefield/model.h"
#include "model/setup/handshake_channel.h"
#include "model/setup/registry.h"

namespace verbs::doca_comm::model {

Bluefield& Bluefield::get() {
  static auto* bluefield = new Bluefield;  // outlives every thread
  return *bluefield;
}

soft::FairLock& Bluefield::lock() { return get().mutex_; }

// Open devices stay the parent's, and reject calls of the child. The child can open the devices again.
void Bluefield::forget_parent() {
  Bluefield& bluefield = get();
  for (const auto& info : bluefield.devices_) {
    // Leaked: the destructor would join a thread that does not exist in the child.
    new std::shared_ptr<HandshakeChannel>(std::move(info->opened.handshakes));
    info->opened = {};
    info->opened.info = info.get();
    for (const auto& representor : info->representors) representor->opened.opens = representor->opened.users = 0;
  }
  ServiceEntry::forget_parent();
}

doca_devinfo* Bluefield::find(const ibv_device* device) {
  for (const auto& info : devices_) {
    if (info->device == device) return info.get();
  }
  return nullptr;
}

doca_error_t Bluefield::list(std::vector<doca_devinfo*>* devices) {
  const Verbs* verbs = attached_verbs();
  if (!verbs) return error_of(errno, DOCA_ERROR_NOT_FOUND);
  const std::lock_guard guard(mutex_);
  devices->clear();
  // With an invalid configuration the list is empty; the NIC's last error has the reason.
  Verbs::extension().ensure_device(kKind);
  int count = 0;
  const std::unique_ptr<ibv_device*, void (*)(ibv_device**)> list(verbs->get_device_list(&count),
                                                                  verbs->free_device_list);
  if (!list) return error_of(errno, DOCA_ERROR_NOT_FOUND);
  for (int i = 0; i < count; ++i) {
    const char* kind = Verbs::extension().device_kind(list.get()[i]);
    if (!kind || std::string(kKind) != kind) continue;
    doca_devinfo* info = find(list.get()[i]);
    if (!info) {
      auto created = std::make_unique<doca_devinfo>();
      if (!read_options(Verbs::extension(), list.get()[i], &created->options)) continue;
      created->device = list.get()[i];
      created->name = verbs->get_device_name(list.get()[i]);
      created->opened.info = created.get();
      for (const RepresentorOptions& options : created->options.representors) {
        auto representor = std::make_unique<doca_devinfo::Representor>();
        representor->info = {.parent = created.get(), .pci = options.pci, .host = options.host};
        representor->opened.info = &representor->info;
        created->representors.push_back(std::move(representor));
      }
      info = devices_.emplace_back(std::move(created)).get();
    }
    devices->push_back(info);
  }
  return DOCA_SUCCESS;
}

bool Bluefield::knows(const doca_devinfo* info) {
  const std::lock_guard guard(mutex_);
  return std::any_of(devices_.begin(), devices_.end(), [&](const auto& known) { return known.get() == info; });
}

template <typename Is>
bool Bluefield::has_representor(const Is& is) const {
  for (const auto& device : devices_) {
    for (const auto& representor : device->representors) {
      if (is(*representor)) return true;
    }
  }
  return false;
}

bool Bluefield::has(const doca_dev* dev) const {
  return std::any_of(devices_.begin(), devices_.end(), [&](const auto& known) { return &known->opened == dev; });
}

bool Bluefield::has(const doca_dev_rep* rep) const {
  return has_representor([&](const doca_devinfo::Representor& known) { return &known.opened == rep; });
}

bool Bluefield::knows(const doca_devinfo_rep* info) {
  const std::lock_guard guard(mutex_);
  return has_representor([&](const doca_devinfo::Representor& known) { return &known.info == info; });
}

bool Bluefield::knows(const doca_dev* dev) {
  const std::lock_guard guard(mutex_);
  return has(dev);
}

bool Bluefield::knows(const doca_dev_rep* rep) {
  const std::lock_guard guard(mutex_);
  return has(rep);
}

doca_error_t Bluefield::start(doca_dev& dev) {
  const Verbs* verbs = Verbs::get();
  dev.context = verbs->open_device(dev.info->device);
  if (!dev.context) return error_of(errno, DOCA_ERROR_NOT_CONNECTED);
  ibv_gid gid;
  dev.pd = verbs->alloc_pd(dev.context);
  if (!dev.pd || verbs->query_gid(dev.context, 1, 0, &gid) != 0) return error_of(errno, DOCA_ERROR_INITIALIZATION);
  dev.gid = gid_of(gid);
  return HandshakeChannel::open(dev.context, dev.pd, &dev.handshakes);
}

void Bluefield::stop(doca_dev& dev) {
  const Verbs* verbs = Verbs::get();
  if (dev.handshakes) dev.handshakes->stop();
  dev.handshakes.reset();
  if (dev.pd) verbs->dealloc_pd(dev.pd);
  if (dev.context) verbs->close_device(dev.context);
  dev.pd = nullptr;
  dev.context = nullptr;
}

doca_error_t Bluefield::open(doca_devinfo* info, doca_dev** dev) {
  const std::lock_guard guard(mutex_);
  doca_dev& opened = info->opened;
  if (opened.opens == 0) {
    if (const doca_error_t error = contained([&] { return start(opened); })) {
      stop(opened);
      return error;
    }
  }
  ++opened.opens;
  *dev = &opened;
  return DOCA_SUCCESS;
}

doca_error_t Bluefield::close(doca_dev* dev) {
  const std::lock_guard guard(mutex_);
  if (!has(dev) || dev->opens == 0) return DOCA_ERROR_INVALID_VALUE;
  if (dev->opens == 1 && dev->users > 0) return DOCA_ERROR_IN_USE;
  if (--dev->opens == 0) stop(*dev);
  return DOCA_SUCCESS;
}

doca_error_t Bluefield::open(doca_devinfo_rep* info, doca_dev_rep** rep) {
  const std::lock_guard guard(mutex_);
  auto* parent = const_cast<doca_devinfo*>(info->parent);
  if (parent->opened.opens == 0) return DOCA_ERROR_NOT_CONNECTED;
  for (const auto& representor : parent->representors) {
    if (&representor->info != info) continue;
    if (representor->opened.opens++ == 0) ++parent->opened.users;
    *rep = &representor->opened;
  }
  return DOCA_SUCCESS;
}

doca_error_t Bluefield::close(doca_dev_rep* rep) {
  const std::lock_guard guard(mutex_);
  if (!has(rep) || rep->opens == 0) return DOCA_ERROR_INVALID_VALUE;
  if (rep->opens == 1 && rep->users > 0) return DOCA_ERROR_IN_USE;
  if (--rep->opens == 0) --const_cast<doca_devinfo*>(rep->info->parent)->opened.users;
  return DOCA_SUCCESS;
}

bool Bluefield::is_open(const doca_dev* dev) {
  const std::lock_guard guard(mutex_);
  return has(dev) && dev->opens > 0;
}

bool Bluefield::is_open(const doca_dev_rep* rep) {
  const std::lock_guard guard(mutex_);
  return has(rep) && rep->opens > 0;
}

bool Bluefield::hold(doca_dev* dev) {
  const std::lock_guard guard(mutex_);
  if (!has(dev) || dev->opens == 0) return false;
  ++dev->users;
  return true;
}

void Bluefield::release(doca_dev* dev) {
  const std::lock_guard guard(mutex_);
  --dev->users;
}

bool Bluefield::hold(doca_dev_rep* rep) {
  const std::lock_guard guard(mutex_);
  if (!has(rep) || rep->opens == 0) return false;
  ++rep->users;
  return true;
}

void Bluefield::release(doca_dev_rep* rep) {
  const std::lock_guard guard(mutex_);
  --rep->users;
}

}  // namespace verbs::doca_comm::model
