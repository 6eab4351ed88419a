#include "binding/library.h"

#include <dlfcn.h>

#include <cerrno>
#include <initializer_list>
#include <map>
#include <mutex>
#include <tuple>

#include "binding/handle.h"
#include "provider/loaded_file.h"

namespace verbs::doca_comm::binding {

namespace {

// Libraries are never unloaded, and their descriptions live as long as the process.
struct Loaded {
  std::mutex mutex;
  std::map<std::tuple<std::string, std::string, std::string>, const Library*> libraries;
};

Loaded& loaded() {
  static auto* instance = new Loaded;
  return *instance;
}

template <typename F>
bool find(void* handle, F* function, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    *function = reinterpret_cast<F>(dlsym(handle, name));
    if (*function) return true;
  }
  return false;
}

}  // namespace

int Library::set_faults(const char* plan) const { return set_faults_ ? -set_faults_(plan) : -ENOSYS; }

bool Library::resolve(void* common, void* channel, std::string* reason) {
  Functions& f = functions_;
  const char* missing = nullptr;
#define VERBS_DOCA_NEED(name) \
  if (!find(channel, &f.name, {"doca_comm_channel_" #name})) missing = "doca_comm_channel_" #name;
  VERBS_DOCA_CHANNEL_FUNCTIONS(VERBS_DOCA_NEED)
#undef VERBS_DOCA_NEED
#define VERBS_DOCA_WANT(name) find(channel, &f.name, {"doca_comm_channel_" #name});
  VERBS_DOCA_NEWER_FUNCTIONS(VERBS_DOCA_WANT)
#undef VERBS_DOCA_WANT
  const auto need = [&](auto* function, const char* newer, const char* older) {
    if (!find(common, function, {newer, older})) missing = newer;
  };
  need(&f.create_list, "doca_devinfo_create_list", "doca_devinfo_list_create");
  need(&f.destroy_list, "doca_devinfo_destroy_list", "doca_devinfo_list_destroy");
  need(&f.rep_create_list, "doca_devinfo_rep_create_list", "doca_devinfo_rep_list_create");
  need(&f.rep_destroy_list, "doca_devinfo_rep_destroy_list", "doca_devinfo_rep_list_destroy");
  need(&f.dev_open, "doca_dev_open", "doca_dev_open");
  need(&f.dev_close, "doca_dev_close", "doca_dev_close");
  need(&f.dev_as_devinfo, "doca_dev_as_devinfo", "doca_dev_as_devinfo");
  need(&f.rep_open, "doca_dev_rep_open", "doca_dev_rep_open");
  need(&f.rep_close, "doca_dev_rep_close", "doca_dev_rep_close");
  if (!find(common, &f.get_pci_addr_str, {"doca_devinfo_get_pci_addr_str"})) {
    need(&f.get_pci_addr, "doca_devinfo_get_pci_addr", "doca_devinfo_get_pci_addr");
  }
  if (!find(common, &f.rep_get_pci_addr_str, {"doca_devinfo_rep_get_pci_addr_str"})) {
    need(&f.rep_get_pci_addr, "doca_devinfo_rep_get_pci_addr", "doca_devinfo_rep_get_pci_addr");
  }
  find(common, &f.get_ibdev_name, {"doca_devinfo_get_ibdev_name"});
  find(common, &f.get_iface_name, {"doca_devinfo_get_iface_name"});
  find(common, &f.filter_all,
       {"doca_devinfo_rep_cap_is_filter_all_supported", "doca_devinfo_rep_get_is_list_all_supported"});
  find(common, &f.rep_get_vuid, {"doca_devinfo_rep_get_vuid"});
  if (missing) *reason = std::string("it has no function ") + missing + ": it is no DOCA library of 1.5 to 2.8";
  return missing == nullptr;
}

bool Library::attach(void* common, const std::string& nic, std::string* reason) {
  soft_ = dlsym(common, "verbs_soft_marker") != nullptr;
  // The shims are thin: dlsym also searches the libraries that they link.
  find(common, &set_faults_, {"verbs_doca_set_faults"});
  find(common, &last_error_, {"verbs_doca_last_error"});
  if (nic.empty()) return true;
  void* verbs = dlopen(nic.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!verbs) {
    *reason = dlerror();
    return false;
  }
  int (*load)(void*) = nullptr;
  void* extension = dlsym(verbs, "verbs_soft_extension");
  if (!extension || !find(common, &load, {"verbs_soft_model_load"}) || load(extension) != 0) {
    *reason = "the software NIC and the model of the DPU do not fit together: install the same version of both";
    return false;
  }
  return true;
}

const Library* Library::open(const std::string& common, const std::string& channel, const std::string& nic,
                             std::string* reason) {
  const std::lock_guard guard(loaded().mutex);
  const Library*& known = loaded().libraries[{common, channel, nic}];
  if (known) return known;
  void* common_handle = dlopen(common.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* channel_handle = common_handle ? dlopen(channel.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!channel_handle) {
    *reason = dlerror();
    return nullptr;
  }
  auto made = std::make_unique<Library>();
  if (!made->attach(common_handle, nic, reason) || !made->resolve(common_handle, channel_handle, reason)) {
    return nullptr;
  }
  known = made.release();
  return known;
}

namespace {

// describe(name): { file, version, soft } of a library of DOCA, undefined if there is none of that name. `version` is
// what libdoca_common says of itself, '3.1.0105'; '' if it says nothing. The library stays loaded, as each of DOCA's
// does.
Napi::Value describe(const Napi::CallbackInfo& info) {
  void* library = dlopen(info[0].ToString().Utf8Value().c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) return info.Env().Undefined();
  const auto runtime = reinterpret_cast<const char* (*)()>(dlsym(library, "doca_version_runtime"));
  const char* version = runtime ? runtime() : nullptr;
  Napi::Object result = Napi::Object::New(info.Env());
  result["file"] = verbs::provider::loaded_file(library);
  result["version"] = version ? version : "";
  result["soft"] = dlsym(library, "verbs_soft_marker") != nullptr;
  return result;
}

// openLibrary(common, channel, nic): { handle, soft, services } or { reason }
Napi::Value open_library(const Napi::CallbackInfo& info) {
  std::string reason;
  const Library* library =
      Library::open(info[0].As<Napi::String>(), info[1].As<Napi::String>(), info[2].As<Napi::String>(), &reason);
  Napi::Object result = Napi::Object::New(info.Env());
  if (!library) {
    result["reason"] = reason;
    return result;
  }
  auto handle = Napi::External<Library>::New(info.Env(), const_cast<Library*>(library));
  handle.TypeTag(&kLibraryTag);
  result["handle"] = handle;
  result["soft"] = library->soft();
  result["services"] = library->functions().ep_update_service_state_info != nullptr;
  return result;
}

// setFaults(library, plan or null): 0 or the negated errno
Napi::Value set_plan(const Napi::CallbackInfo& info) {
  const Library& library = library_of(info, 0);
  if (info[1].IsNull()) return number(info, library.set_faults(nullptr));
  return number(info, library.set_faults(info[1].As<Napi::String>().Utf8Value().c_str()));
}

Napi::Value last_reason(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), library_of(info, 0).last_error());
}

}  // namespace

void Library::init(Napi::Object exports) {
  add_function<open_library>(exports, "openLibrary");
  add_function<describe>(exports, "describe");
  add_function<set_plan>(exports, "setFaults");
  add_function<last_reason>(exports, "lastError");
}

}  // namespace verbs::doca_comm::binding
