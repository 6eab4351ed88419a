#include "binding/library.h"

#include <dlfcn.h>

#include <cerrno>
#include <initializer_list>
#include <map>
#include <mutex>
#include <utility>

#include "binding/handle.h"
#include "provider/loaded_library.h"

namespace verbs::doca_comm::binding {

namespace {

// Libraries are never unloaded, and their descriptions live as long as the process. Threads share them: what is opened
// once does not change.
struct Loaded {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, Library*> libraries;
};

Loaded& loaded() {
  static auto* instance = new Loaded;
  return *instance;
}

template <typename F>
bool find(void* handle, F* function, std::initializer_list<std::string> names) {
  for (const std::string& name : names) {
    *function = reinterpret_cast<F>(dlsym(handle, name.c_str()));
    if (*function) return true;
  }
  return false;
}

// Finds a table's functions, and keeps the names of those that are missing.
class Finder {
 public:
  Finder(void* library, std::string prefix) : library_(library), prefix_(std::move(prefix)) {}

  template <typename F>
  void need(F* function, const char* name) {
    if (!find(library_, function, {prefix_ + name})) add(name);
  }
  template <typename F>
  void need(F* function, const char* newer, const char* older) {
    if (!find(library_, function, {prefix_ + newer, prefix_ + older})) add(newer);
  }
  // False with the reason if one is missing.
  bool complete(const char* not_a, std::string* reason) const {
    if (count_ == 0) return true;
    *reason = "it has no function " + missing_ + (count_ > 3 ? " and " + std::to_string(count_ - 3) + " others" : "") +
              ": it is no " + not_a;
    return false;
  }

 private:
  void add(const char* name) {
    if (++count_ <= 3) missing_ += (missing_.empty() ? "" : ", ") + prefix_ + name;
  }

  void* library_;
  const std::string prefix_;
  std::string missing_;
  int count_ = 0;
};

void* load(const std::string& file, std::string* reason) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) *reason = dlerror();
  return library;
}

}  // namespace

int Library::set_faults(const char* plan) const { return set_faults_ ? -set_faults_(plan) : -ENOSYS; }

bool Library::resolve_devices(std::string* reason) {
  DeviceFunctions& f = devices_;
  Finder common(common_, "doca_");
  common.need(&f.create_list, "devinfo_create_list", "devinfo_list_create");
  common.need(&f.destroy_list, "devinfo_destroy_list", "devinfo_list_destroy");
  common.need(&f.rep_create_list, "devinfo_rep_create_list", "devinfo_rep_list_create");
  common.need(&f.rep_destroy_list, "devinfo_rep_destroy_list", "devinfo_rep_list_destroy");
  common.need(&f.dev_open, "dev_open");
  common.need(&f.dev_close, "dev_close");
  common.need(&f.dev_as_devinfo, "dev_as_devinfo");
  common.need(&f.rep_open, "dev_rep_open");
  common.need(&f.rep_close, "dev_rep_close");
  if (!find(common_, &f.get_pci_addr_str, {"doca_devinfo_get_pci_addr_str"})) {
    common.need(&f.get_pci_addr, "devinfo_get_pci_addr");
  }
  if (!find(common_, &f.rep_get_pci_addr_str, {"doca_devinfo_rep_get_pci_addr_str"})) {
    common.need(&f.rep_get_pci_addr, "devinfo_rep_get_pci_addr");
  }
  find(common_, &f.get_ibdev_name, {"doca_devinfo_get_ibdev_name"});
  find(common_, &f.get_iface_name, {"doca_devinfo_get_iface_name"});
  find(common_, &f.filter_all,
       {"doca_devinfo_rep_cap_is_filter_all_supported", "doca_devinfo_rep_get_is_list_all_supported"});
  find(common_, &f.rep_get_vuid, {"doca_devinfo_rep_get_vuid"});
  return common.complete("libdoca_common of 1.5 or later", reason);
}

bool Library::open_channel(const std::string& file, std::string* reason) {
  const std::lock_guard guard(loaded().mutex);
  if (channel_) return true;
  void* library = load(file, reason);
  if (!library) return false;
  auto table = std::make_unique<ChannelFunctions>();
  Finder channel(library, "doca_comm_channel_");
#define VERBS_DOCA_NEED(name) channel.need(&table->name, #name);
  VERBS_DOCA_CHANNEL_FUNCTIONS(VERBS_DOCA_NEED)
#undef VERBS_DOCA_NEED
#define VERBS_DOCA_WANT(name) find(library, &table->name, {"doca_comm_channel_" #name});
  VERBS_DOCA_NEWER_FUNCTIONS(VERBS_DOCA_WANT)
#undef VERBS_DOCA_WANT
  if (!channel.complete("Comm Channel of DOCA 1.5 to 2.8", reason)) return false;
  channel_ = std::move(table);
  return true;
}

bool Library::open_comch(const std::string& file, std::string* reason) {
  const std::lock_guard guard(loaded().mutex);
  if (comch_) return true;
  void* library = load(file, reason);
  if (!library) return false;
  const bool older = !dlsym(library, "doca_comch_server_create") && dlsym(library, "doca_cc_server_create");
  const std::string prefix = older ? "doca_cc_" : "doca_comch_";
  const char* const not_a = "Comch of DOCA 2.5 or later";

  auto engine = std::make_unique<EngineFunctions>();
  Finder common(common_, "doca_");
#define VERBS_DOCA_NEED(name) common.need(&engine->name, #name);
  VERBS_DOCA_ENGINE_FUNCTIONS(VERBS_DOCA_NEED)
#undef VERBS_DOCA_NEED
  if (!common.complete("libdoca_common of 2.5 or later", reason)) return false;

  auto control = std::make_unique<ComchFunctions>();
  Finder comch(library, prefix);
#define VERBS_COMCH_NEED(name) comch.need(&control->name, #name);
  VERBS_COMCH_CONTROL_FUNCTIONS(VERBS_COMCH_NEED)
#undef VERBS_COMCH_NEED
  comch.need(&control->server_event_connection_register, "server_event_connection_status_changed_register",
             "server_event_connection_register");
  if (!comch.complete(not_a, reason)) return false;

  auto fast = std::make_unique<FastPathFunctions>();
  Finder memory(common_, "doca_");
  Finder path(library, prefix);
#define VERBS_DOCA_NEED(name) memory.need(&fast->name, #name);
  VERBS_DOCA_MEMORY_FUNCTIONS(VERBS_DOCA_NEED)
#undef VERBS_DOCA_NEED
  find(common_, &fast->mmap_set_dmabuf_memrange, {"doca_mmap_set_dmabuf_memrange"});
#define VERBS_COMCH_NEED(name) path.need(&fast->name, #name);
  VERBS_COMCH_FAST_FUNCTIONS(VERBS_COMCH_NEED)
#undef VERBS_COMCH_NEED
  if (memory.complete("memory of DOCA 2.5 or later", &fast_path_reason_) && path.complete(not_a, &fast_path_reason_)) {
    fast_path_ = std::move(fast);
  }
  engine_ = std::move(engine);
  prefix_ = prefix;
  comch_ = std::move(control);
  return true;
}

bool Library::attach(const std::string& nic, std::string* reason) {
  soft_ = dlsym(common_, "verbs_soft_marker") != nullptr;
  // The shims are thin: dlsym also searches the libraries that they link.
  find(common_, &set_faults_, {"verbs_doca_set_faults"});
  find(common_, &last_error_, {"verbs_doca_last_error"});
  if (nic.empty()) return true;
  void* verbs = load(nic, reason);
  if (!verbs) return false;
  int (*attach_model)(void*) = nullptr;
  void* extension = dlsym(verbs, "verbs_soft_extension");
  if (!extension || !find(common_, &attach_model, {"verbs_soft_model_load"}) || attach_model(extension) != 0) {
    *reason = "the software NIC and the model of the DPU do not fit together: install the same version of both";
    return false;
  }
  return true;
}

Library* Library::open(const std::string& common, const std::string& nic, std::string* reason) {
  const std::lock_guard guard(loaded().mutex);
  Library*& known = loaded().libraries[{common, nic}];
  if (known) return known;
  void* handle = load(common, reason);
  if (!handle) return nullptr;
  std::unique_ptr<Library> made(new Library(handle));
  if (!made->attach(nic, reason) || !made->resolve_devices(reason)) return nullptr;
  known = made.release();
  return known;
}

namespace {

// describe(name): { file, version, soft } of a library of DOCA, undefined if there is none of that name. `version` is
// what libdoca_common says of itself, '3.1.0105'; '' if it says nothing. The library stays loaded, as each of DOCA's
// does.
Napi::Value describe(const Napi::CallbackInfo& info) {
  void* library = dlopen(string_of(info[0]).c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) return info.Env().Undefined();
  const auto runtime = reinterpret_cast<const char* (*)()>(dlsym(library, "doca_version_runtime"));
  const char* version = runtime ? runtime() : nullptr;
  Napi::Object result = Napi::Object::New(info.Env());
  result["file"] = verbs::provider::loaded_file(library);
  result["version"] = version ? version : "";
  result["soft"] = dlsym(library, "verbs_soft_marker") != nullptr;
  return result;
}

// openLibrary(common, nic): { handle, soft } or { reason }
Napi::Value open_library(const Napi::CallbackInfo& info) {
  std::string reason;
  Library* library = Library::open(string_of(info[0]), string_of(info[1]), &reason);
  Napi::Object result = Napi::Object::New(info.Env());
  if (!library) {
    result["reason"] = reason;
    return result;
  }
  result["handle"] = kLibraries.lend(info.Env(), library);
  result["soft"] = library->soft();
  return result;
}

// openChannel(library, file): { services } or { reason }
Napi::Value load_channel(const Napi::CallbackInfo& info) {
  Library& library = kLibraries.of(info, 0);
  std::string reason;
  Napi::Object result = Napi::Object::New(info.Env());
  if (library.open_channel(string_of(info[1]), &reason)) {
    result["services"] = library.channel()->ep_update_service_state_info != nullptr;
  } else {
    result["reason"] = reason;
  }
  return result;
}

// openComch(library, file): { prefix, fastPath: why there is none, '' if there is } or { reason }
Napi::Value load_comch(const Napi::CallbackInfo& info) {
  Library& library = kLibraries.of(info, 0);
  std::string reason;
  Napi::Object result = Napi::Object::New(info.Env());
  if (library.open_comch(string_of(info[1]), &reason)) {
    result["prefix"] = library.prefix();
    result["fastPath"] = library.fast_path() ? "" : library.fast_path_reason();
  } else {
    result["reason"] = reason;
  }
  return result;
}

// setFaults(library, plan or null): 0 or the negated errno
Napi::Value set_plan(const Napi::CallbackInfo& info) {
  const Library& library = kLibraries.of(info, 0);
  if (info[1].IsNull()) return number(info.Env(), library.set_faults(nullptr));
  return number(info.Env(), library.set_faults(string_of(info[1]).c_str()));
}

Napi::Value last_reason(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), kLibraries.of(info, 0).last_error());
}

}  // namespace

void Library::init(Napi::Object exports) {
  export_function<open_library>(exports, "openLibrary");
  export_function<load_channel>(exports, "openChannel");
  export_function<load_comch>(exports, "openComch");
  export_function<describe>(exports, "describe");
  export_function<set_plan>(exports, "setFaults");
  export_function<last_reason>(exports, "lastError");
}

}  // namespace verbs::doca_comm::binding
