#include "host/devices/registry.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "host/devices/device_report.h"
#include "host/devices/machine_files.h"
#include "host/error.h"
#include "host/fork_order.h"
#include "host/machine/machine.h"
#include "host/models/models.h"
#include "host/progress/clock.h"
#include "host/publication/reasons.h"
#include "verbs_soft_boundary.h"

namespace verbs::soft::host {

namespace {

// Of this process. The lowest 16 bits are left for its devices.
std::uint64_t random_instances() {
  std::uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits) {
    bits = static_cast<std::uint64_t>(now()) * 0x9e3779b97f4a7c15u ^ static_cast<std::uint64_t>(getpid()) << 32;
  }
  return bits & ~std::uint64_t{0xffff};
}

std::atomic<Registry*> created{nullptr};

}  // namespace

Registry& Registry::get() {
  static Registry* registry = new Registry;  // never destroyed: threads may outlive the static objects
  return *registry;
}

Registry::Registry() : instances_(random_instances()) {
  created = this;
  at_fork(LockRank::kRegistry, before_fork, after_fork_in_parent, after_fork_in_child);
}

// The locks are held across a fork, so that the registry and the links' shared state are consistent in the child.
void Registry::before_fork() {
  get().mutex_.lock();
  for (const auto& device : get().devices_) {
    if (device->is_open()) device->adapter()->core.lock.lock();
  }
}
void Registry::after_fork_in_parent() {
  for (const auto& device : get().devices_) {
    if (device->is_open()) device->adapter()->core.lock.unlock();
  }
  get().mutex_.unlock();
}
void Registry::after_fork_in_child() {
  Registry& registry = get();
  new (&registry.mutex_) FairLock;  // other threads of the parent may wait for it
  registry.forget_parent();
}

void Registry::forget_parent() {
  instances_ = random_instances();
  instance_count_ = 0;
  for (const auto& device : devices_) device->forget_parent(next_instance());
  if (publisher_) publisher_.release()->abandon();  // its thread is the parent's
  show_changes();
}

std::uint64_t Registry::next_instance() { return instances_ | ++instance_count_; }

// The first number of a uverbs node that neither a device of the configuration nor the kernel has.
int Registry::free_number() const {
  const auto has = [](int number) {
    return [number](const Entry& entry) { return entry.device && entry.device->number() == number; };
  };
  const auto kernel_has = [](int number) {
    const std::string path = "/dev/infiniband/uverbs" + std::to_string(number);
    return syscall(SYS_faccessat, AT_FDCWD, path.c_str(), F_OK) == 0;  // the kernel itself, under any preloaded library
  };
  int number = 0;
  while (std::any_of(entries_.begin(), entries_.end(), has(number)) || kernel_has(number)) ++number;
  return number;
}

bool Registry::any_open() const {
  return std::any_of(devices_.begin(), devices_.end(), [](const auto& device) { return device->is_open(); });
}

int Registry::no_device(const std::string& name) const {
  std::string names;
  for (const Entry& entry : entries_) names += (names.empty() ? "" : ", ") + entry.text.name;
  return fail(ENODEV, "there is no device " + name + "; configured are: " + names);
}

int Registry::replace(const std::string& text, const OptionTexts& also) {
  std::vector<DeviceText> texts;
  OptionTexts every_device;
  if (const std::string error = split_configuration(text, &texts, &every_device); !error.empty()) {
    return fail(EINVAL, error);
  }
  every_device.insert(every_device.end(), also.begin(), also.end());
  for (DeviceText& device : texts) device.options.insert(device.options.end(), also.begin(), also.end());
  std::vector<Entry> entries;
  for (DeviceText& device : texts) {
    DeviceConfig config;  // only to report a wrong option now, and not when the device's model is loaded
    if (const std::string error = read_device(device, "", &config); !error.empty()) return fail(EINVAL, error);
    entries.push_back({std::move(device), nullptr});
  }
  entries_ = std::move(entries);
  changed_ = true;
  every_device_ = std::move(every_device);
  configured_ = true;
  return 0;
}

int Registry::configure_once() {
  if (configured_) return 0;
  const char* variable = std::getenv("VERBS_SOFT");
  std::string text;
  if (const std::string error = load_text(variable ? variable : "", &text); !error.empty()) {
    return fail(EINVAL, "VERBS_SOFT: " + error);
  }
  const int error = replace(text, {});
  return error == 0 ? 0 : fail(error, "VERBS_SOFT: " + std::string(last_error()));
}

// What the variable has for every device. Nothing where it cannot be read: it is to be replaced.
OptionTexts Registry::every_device_of_variable() {
  const char* variable = std::getenv("VERBS_SOFT");
  std::string text;
  std::vector<DeviceText> devices;
  OptionTexts every_device;
  if (variable == nullptr || !load_text(variable, &text).empty()) return {};
  return split_configuration(text, &devices, &every_device).empty() ? every_device : OptionTexts{};
}

int Registry::configure(const char* text) {
  const std::lock_guard guard(mutex_);
  if (any_open()) return fail(EBUSY, "a device of the software NIC is open; configure before the first open");
  // A text that is wrong changes nothing. A variable that is wrong is so at each listing, until it is read again.
  if (text == nullptr) configured_ = false;
  // Whoever started the program has asked for the captures and faults of every device (verbs run), whatever devices it
  // has.
  const int error = text ? replace(text, every_device_of_variable()) : configure_once();
  if (error == 0) make_all();
  return error;
}

// Files of the devices are there from now on, and not only when the program lists them.
void Registry::make_all() {
  if (!has_live_view()) return;
  for (Entry& entry : entries_) {
    if (!entry.device && make_device(entry, nullptr) != 0) return clear_last_error();
  }
  show_changes();
}

void Registry::show_changes() {
  const bool is_new_list = std::exchange(changed_, false);
  bool changed = is_new_list;
  for (const auto& device : devices_) changed = device->take_change() || changed;
  if (!changed || !has_live_view()) return;
  const auto show = [this, is_new_list] {
    std::vector<Device*> devices;
    for (const Entry& entry : entries_) {
      if (entry.device) devices.push_back(entry.device);
    }
    show_devices(devices, is_new_list);
    return 0;
  };
  // Without memory the machine looks as before, until the next time.
  contain(show, [this](int) {
    changed_ = true;
    return 0;
  });
}

int Registry::add_devices(const char* text) {
  const std::lock_guard guard(mutex_);
  if (const int error = configure_once()) return error;
  std::vector<DeviceText> texts;
  if (const std::string error = split_configuration(text, &texts); !error.empty()) return fail(EINVAL, error);
  for (DeviceText& device : texts) {
    device.options.insert(device.options.end(), every_device_.begin(), every_device_.end());
    DeviceConfig config;
    if (const std::string error = read_device(device, "", &config); !error.empty()) return fail(EINVAL, error);
    if (find_locked(device.name) || std::any_of(entries_.begin(), entries_.end(),
                                                [&](const Entry& entry) { return entry.text.name == device.name; })) {
      return fail(EEXIST, "there is a device " + device.name + " already");
    }
  }
  entries_.reserve(entries_.size() + texts.size());
  for (DeviceText& device : texts) entries_.push_back({std::move(device), nullptr});
  make_all();
  return 0;
}

std::vector<wire::Gid> Registry::configured_addresses() const {
  std::vector<wire::Gid> all;
  for (const Entry& entry : entries_) {
    DeviceConfig config;
    if (!read_device(entry.text, "", &config).empty()) continue;
    all.insert(all.end(), config.addresses.begin(), config.addresses.end());
  }
  return all;
}

int Registry::make_device(Entry& entry, verbs_soft_extension_function extension) {
  DeviceConfig config;
  if (const std::string error = read_device(entry.text, "", &config); !error.empty()) return fail(EINVAL, error);
  const verbs_soft_model* model = nullptr;
  if (config.kind != "roce") {
    model = models_.find(config.kind);
    if (!model && !config.model.empty()) {
      if (const int error = load_model(config.model, extension)) return error;
      model = models_.find(config.kind);
    }
    if (!model) {
      return fail(ENODEV, "device " + config.name + " is left out: no model of kind " + config.kind +
                              " is loaded; load the package or library that has it, or name it with model=PATH");
    }
    const std::string error = read_device(entry.text, model->defaults ? model->defaults : "", &config);
    if (!error.empty()) return fail(EINVAL, error);
    if (const int refused = check_own_options(config, *model)) return refused;
  }
  if (const int error = check_raw_options(config, model)) return error;
  // A tunnel's source is one address, known from the beginning.
  config.offers_host = config.addresses.empty() && config.reach != Reach::kProcess && !(model && model->tunnels);
  if (config.offers_host) config.elsewhere = configured_addresses();
  auto device = std::make_unique<Device>(std::move(config), model, next_instance(), free_number());
  // Listed before init(), in which the model reads the device's options.
  devices_.push_back(std::move(device));
  const int error = contain([&] { return devices_.back()->init(); }, [](int failed) { return failed; });
  if (error != 0) {
    devices_.pop_back();
    return error;
  }
  entry.device = devices_.back().get();
  changed_ = true;
  return 0;
}

namespace {

// "device NAME is left out: REASON", whichever part of the NIC refused it. Programs read it (@verbs/core).
std::string missing(const std::string& name, const std::string& reason) {
  const std::string start = "device " + name + " is left out: ", plain = "device " + name + ": ";
  if (reason.starts_with(start)) return reason;
  return start + (reason.starts_with(plain) ? reason.substr(plain.size()) : reason);
}

}  // namespace

int Registry::list(verbs_soft_extension_function extension, std::vector<Device*>* devices) {
  const std::lock_guard guard(mutex_);
  if (const int error = configure_once()) return error;
  devices->clear();
  std::string left_out;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].device && make_device(entries_[i], extension) != 0) {
      left_out += (left_out.empty() ? "" : "; ") + missing(entries_[i].text.name, last_error());
      continue;
    }
    devices->push_back(entries_[i].device);
  }
  show_changes();
  if (left_out.empty()) {
    clear_last_error();
  } else {
    fail(ENODEV, left_out);
  }
  return 0;
}

int Registry::add_model(const verbs_soft_model* model) {
  const std::lock_guard guard(mutex_);
  return models_.add(model);
}

int Registry::ensure_device(const char* kind) {
  const std::lock_guard guard(mutex_);
  if (const int error = configure_once()) return error;
  const verbs_soft_model* model = kind ? models_.find(kind) : nullptr;
  if (!model || !model->default_device) {
    return fail(ENODEV, std::string("no model of kind ") + (kind ? kind : "(null)") + " with a default device");
  }
  for (const Entry& entry : entries_) {
    for (const auto& [key, value] : entry.text.options) {
      if (key == "kind" && value == kind) return 0;
    }
  }
  return add_devices((std::string(model->default_device) + ",kind=" + kind).c_str());
}

Device* Registry::find(const ibv_device* ibv) {
  const std::lock_guard guard(mutex_);
  for (const auto& device : devices_) {
    if (device->ibv() == ibv) return device.get();
  }
  return nullptr;
}

Device* Registry::find_locked(const std::string& name) {
  for (Entry& entry : entries_) {
    if (entry.text.name != name) continue;
    // Counters, captures and faults may be used before the devices are listed.
    if (!entry.device) make_device(entry, nullptr);
    return entry.device;
  }
  return nullptr;
}

Device* Registry::at(std::size_t index) {
  const std::lock_guard guard(mutex_);
  if (configure_once() != 0) return nullptr;
  Device* found = nullptr;
  for (std::size_t i = 0; i < entries_.size() && !found; ++i) {
    Device* device = find_locked(entries_[i].text.name);
    if (device && index-- == 0) found = device;
  }
  show_changes();
  return found;
}

Device* Registry::find(const std::string& name) {
  const std::lock_guard guard(mutex_);
  return configure_once() == 0 ? find_locked(name) : nullptr;
}

int Registry::open(const ibv_device* ibv, Device** device, Adapter** adapter) {
  const std::lock_guard guard(mutex_);
  *device = find(ibv);
  const auto listed = [&](const Entry& entry) { return entry.device == *device; };
  if (!*device || std::none_of(entries_.begin(), entries_.end(), listed)) {
    return fail(ENODEV, "the device is not one of the software NIC's present configuration; list the devices again");
  }
  const int error = (*device)->open(adapter);
  if (error != 0) append_open_failure((*device)->config().name, error, last_error());
  show_changes();
  if (error == 0 && !publisher_) publisher_ = Publisher::start([this] { return report(); });
  return error;
}

void Registry::close(Device* device, Adapter* adapter) {
  std::unique_ptr<Publisher> ended;  // ends without the lock, which its report takes
  const std::lock_guard guard(mutex_);
  if (adapter->core.inherited()) return;
  device->close();
  show_changes();
  if (!any_open()) ended = std::move(publisher_);
}

std::string Registry::report() {
  Json json;
  char program[64] = "";
  // The name of the process's first thread: the program, unless it renamed itself.
  if (std::FILE* file = std::fopen("/proc/self/comm", "re")) {
    if (std::fgets(program, sizeof program, file)) program[std::strcspn(program, "\n")] = '\0';
    std::fclose(file);
  }
  const std::lock_guard guard(mutex_);
  json.open('{').key("version").value(std::uint32_t{1}).key("program").value(program).key("devices").open('[');
  for (const auto& device : devices_) {
    if (device->is_open()) write_report(json, *device);
  }
  json.close(']').key("objects").open('[');
  for (const auto& device : devices_) {
    if (device->is_open()) write_objects(json, *device);
  }
  json.close(']').close('}');
  return json.take();
}

void Registry::flush_at_exit() {
  if (!mutex_.try_lock()) return;
  for (const auto& device : devices_) {
    if (device->is_open()) device->adapter()->flush_at_exit();
  }
  mutex_.unlock();
}

namespace {

// Runs when the process exits: sends an acknowledgement that was left to the helper thread.
[[gnu::destructor]] void flush_at_exit() {
  if (Registry* registry = created) registry->flush_at_exit();
}

}  // namespace

}  // namespace verbs::soft::host
