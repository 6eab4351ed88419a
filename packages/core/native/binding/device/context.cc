#include "binding/device/context.h"

#include <endian.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>

#include "binding/device/query.h"
#include "binding/lifetime/handle.h"

namespace verbs::core {

Context::Context(std::shared_ptr<Environment> environment, std::shared_ptr<const Library> library, ibv_context* context,
                 Ownership ownership)
    : Object(kKind, {}),
      environment_(std::move(environment)),
      library_(std::move(library)),
      context_(context),
      ownership_(ownership) {
  // A read of events must never block Node's thread.
  const int flags = fcntl(context_->async_fd, F_GETFL);
  if (flags >= 0) (void)fcntl(context_->async_fd, F_SETFL, flags | O_NONBLOCK);
}

bool Context::removed() const {
  Filled<ibv_port_attr> attr;
  return query_port(*this, 1, &attr) == EIO;
}

// The kernel destroys the objects of a device that was removed, and answers every call with EIO from then on. The
// libraries still count what they could not destroy: EBUSY for a channel of such queues, or a domain of such objects.
// All children are closed here, so nothing else can be in the way. Closing the context still works and gives its
// descriptors back, as in C.
bool Object::went_with_device(int error) const {
  const bool counts = kind_ == VERBS_CORE_CHANNEL || kind_ == VERBS_CORE_PD || kind_ == VERBS_CORE_TD;
  if (error != EIO && !(error == EBUSY && counts)) return false;
  const Context* context = context_if_any();
  return kind_ != VERBS_CORE_CONTEXT && context != nullptr && context->removed();
}

void Object::keep_parents() {
  const Context* context = context_if_any();
  if (context == nullptr || context == this) return;
  try {
    for (const Link& link : links_) {
      if (link.parent.get() != context) context->keep(link.parent);
    }
  } catch (const std::bad_alloc&) {
    // Without memory for that, they end now.
  }
}

int Context::destroy() {
  async_watcher_.close();
  if (ownership_ == Ownership::kOwned && functions().close_device(context_) != 0) return errno == 0 ? EIO : errno;
  return 0;
}

int Context::destroyed(int) {
  context_ = nullptr;
  kept_.clear();
  return 0;
}

namespace {

// openLibrary(name, prefix | undefined): { handle, soft, file } | { reason }
Napi::Value open_library(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::string name = string_of(info[0]);
  const std::string prefix = info[1].IsUndefined() ? "" : string_of(info[1]);
  std::shared_ptr<const Library>& library = Environment::of(env)->libraries[{name, prefix}];
  std::string reason;
  if (library == nullptr) library = Library::open(name, prefix, &reason);
  Napi::Object result = Napi::Object::New(env);
  if (library == nullptr) {
    result.Set("reason", reason);
  } else {
    result.Set("handle", wrap_library(env, library));
    result.Set("soft", library->soft());
    result.Set("file", library->file());
  }
  return result;
}

class DeviceList {
 public:
  explicit DeviceList(const Functions& functions) : functions_(functions) {
    errno = 0;
    list_ = functions_.get_device_list(&count_);
    error_ = errno;
  }
  ~DeviceList() {
    if (list_ != nullptr) functions_.free_device_list(list_);
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  int error() const { return list_ != nullptr ? 0 : error_ == 0 ? EIO : error_; }
  int count() const { return count_; }
  ibv_device* operator[](int index) const { return list_[index]; }

 private:
  const Functions& functions_;
  ibv_device** list_;
  int count_ = 0;
  int error_;
};

// getDeviceList(library): { name, guid, nodeType, … }[] | -errno
Napi::Value get_device_list(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto library = unwrap_library(env, info[0]);
  const Functions& functions = library->functions();
  const DeviceList list(functions);
  if (list.error() != 0) return failure(env, list.error());
  Napi::Array result = Napi::Array::New(env, static_cast<std::size_t>(list.count()));
  for (int i = 0; i < list.count(); i++) {
    ibv_device* device = list[i];
    Napi::Object entry = Napi::Object::New(env);
    entry.Set("name", functions.get_device_name(device));
    entry.Set("guid", Napi::BigInt::New(env, static_cast<std::uint64_t>(be64toh(functions.get_device_guid(device)))));
    entry.Set("nodeType", static_cast<int>(device->node_type));
    entry.Set("transportType", static_cast<int>(device->transport_type));
    entry.Set("devName", device->dev_name);
    entry.Set("devPath", device->dev_path);
    entry.Set("ibdevPath", device->ibdev_path);
    entry.Set("index", functions.get_device_index == nullptr ? -1 : functions.get_device_index(device));
    result.Set(static_cast<std::uint32_t>(i), entry);
  }
  return result;
}

// openDevice(library, name): handle | -errno
Napi::Value open_device(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto library = unwrap_library(env, info[0]);
  const std::string name = string_of(info[1]);
  const Functions& functions = library->functions();
  const DeviceList list(functions);
  if (list.error() != 0) return failure(env, list.error());
  for (int i = 0; i < list.count(); i++) {
    if (name != functions.get_device_name(list[i])) continue;
    errno = 0;
    ibv_context* context = functions.open_device(list[i]);
    if (context == nullptr) return failure(env, creation_error());
    // libhbl has one default context for the process, and gives it for any device.
    if (name != functions.get_device_name(context->device)) {
      functions.close_device(context);
      return failure(env, EBUSY);
    }
    return wrap_object(env, std::make_shared<Context>(Environment::of(env), library, context));
  }
  return failure(env, ENODEV);
}

// readSysfsFile(library, directory, file): string | -1
Napi::Value read_sysfs_file(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto library = unwrap_library(env, info[0]);
  char text[512];
  if (library->functions().read_sysfs_file == nullptr) return failure(env, 1);
  const int length =
      library->functions().read_sysfs_file(string_of(info[1]).c_str(), string_of(info[2]).c_str(), text, sizeof text);
  if (length < 0 || static_cast<std::size_t>(length) > sizeof text) return failure(env, 1);
  return Napi::String::New(env, text, static_cast<std::size_t>(length));
}

// close(handle): undefined | { errno, syscall }, of the object or of a child. For every kind of object.
Napi::Value close_object(const Napi::CallbackInfo& info) {
  const Object* failed = nullptr;
  const std::shared_ptr<Object> object = unwrap_object(info.Env(), info[0]);
  const int error = object->close(&failed);
  if (error == 0) return info.Env().Undefined();
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("errno", error);
  result.Set("syscall", failed->destroyer());
  return result;
}

// claim(handle, syscall): true once for each handle, which is then that of one object of JavaScript; `syscall` is the
// name of the function that destroys it.
Napi::Value claim_handle(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), claim(info.Env(), info[0], string_of(info[1])));
}

Napi::Value is_open(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), unwrap_object(info.Env(), info[0])->open());
}

// getAsyncEvent(context): [eventType, element] | -errno. `element` is the id that the CQ or QP was created with, or the
// port's number, or 0 for the device. The event is acknowledged before this returns.
Napi::Value get_async_event(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto context = take<Context>(info, 0);
  Filled<ibv_async_event> filled;
  errno = 0;
  if (context->functions().get_async_event(context->ctx(), filled.get()) != 0) {
    return failure(env, errno == 0 ? EIO : errno);
  }
  ibv_async_event& event = *filled.get();
  double element = 0;
  switch (event.event_type) {
    case IBV_EVENT_CQ_ERR:
      element = static_cast<double>(reinterpret_cast<std::uintptr_t>(event.element.cq->cq_context));
      break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      element = static_cast<double>(reinterpret_cast<std::uintptr_t>(event.element.qp->qp_context));
      break;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      element = static_cast<double>(reinterpret_cast<std::uintptr_t>(event.element.srq->srq_context));
      break;
    case IBV_EVENT_WQ_FATAL:
      element = static_cast<double>(reinterpret_cast<std::uintptr_t>(event.element.wq->wq_context));
      break;
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
      element = event.element.port_num;
      break;
    default:
      break;
  }
  context->functions().ack_async_event(&event);
  Napi::Array result = Napi::Array::New(env, 2);
  result.Set(0u, static_cast<int>(event.event_type));
  result.Set(1u, element);
  return result;
}

// watchAsync(context, callback): 0 | -errno; refAsync(context, boolean)
Napi::Value watch_async(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  return failure(info.Env(), context->async_watcher().watch(context->shared_environment(), context->ctx()->async_fd,
                                                            info[1].As<Napi::Function>(), "verbs.AsyncEvent"));
}

Napi::Value ref_async(const Napi::CallbackInfo& info) {
  // A waiter hears of a close only after it is complete, and may come here with the closed object.
  if (!unwrap_object(info.Env(), info[0])->open()) return info.Env().Undefined();
  take<Context>(info, 0)->async_watcher().set_ref(flag_of(info[1]));
  return info.Env().Undefined();
}

// cmdFd(context): the descriptor that importDevice takes.
Napi::Value cmd_fd(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), take<Context>(info, 0)->ctx()->cmd_fd);
}

// importDevice(library, fd, name): handle | -errno, ENXIO for the descriptor of a device of another name. The context
// closes its descriptor, so it gets a duplicate.
Napi::Value import_device(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto library = unwrap_library(env, info[0]);
  if (library->functions().import_device == nullptr) return failure(env, EOPNOTSUPP);
  const int fd = fcntl(number_of<int>(info[1]), F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return failure(env, errno);
  struct stat before{};
  if (fstat(fd, &before) != 0) return failure(env, errno);
  errno = 0;
  ibv_context* context = library->functions().import_device(fd);
  if (context == nullptr) {
    const int error = creation_error();
    // A provider that has begun has closed it, and another thread may have that number now.
    struct stat after{};
    if (fstat(fd, &after) == 0 && after.st_dev == before.st_dev && after.st_ino == before.st_ino) ::close(fd);
    return failure(env, error);
  }
  const auto imported = std::make_shared<Context>(Environment::of(env), library, context);
  if (info[2].As<Napi::String>().Utf8Value() != library->functions().get_device_name(context->device)) {
    return failure(env, ENXIO);
  }
  return wrap_object(env, imported);
}

}  // namespace

void Context::init(Napi::Object exports) {
  export_function<open_library>(exports, "openLibrary");
  export_function<get_device_list>(exports, "getDeviceList");
  export_function<open_device>(exports, "openDevice");
  export_function<read_sysfs_file>(exports, "readSysfsFile");
  export_function<close_object>(exports, "close");
  export_function<claim_handle>(exports, "claim");
  export_function<is_open>(exports, "isOpen");
  export_function<get_async_event>(exports, "getAsyncEvent");
  export_function<watch_async>(exports, "watchAsync");
  export_function<ref_async>(exports, "refAsync");
  export_function<cmd_fd>(exports, "cmdFd");
  export_function<import_device>(exports, "importDevice");
}

}  // namespace verbs::core
