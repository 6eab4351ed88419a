// What a test asks of the kernel, by lines that it writes to /dev/infiniband/control:
//   section NAME               a heading in the journal
//   refuse CALL ERRNO TIMES    the next calls of this name fail
//   event TYPE PORT            an asynchronous event of the port
//   event-of KIND TYPE         an asynchronous event of the newest queue pair, completion queue or shared receive queue
//   remove                     the device goes: IBV_EVENT_DEVICE_FATAL, and EIO from then on
//   invalidated RKEY             a SEND with invalidate arrives at the newest queue pair, as the first completion of
//   its queue queues                     the posted work queue elements and doorbells, into the journal
#include <rdma/ib_user_verbs.h>

#include <cstdlib>
#include <cstring>
#include <sstream>

#include "kernel/drivers/driver.h"
#include "kernel/kernel.h"
#include "kernel/libc.h"

namespace verbs::uverbs {
namespace {

constexpr std::uint32_t kDeviceFatal = 8;  // IBV_EVENT_DEVICE_FATAL

Type type_of(const std::string& kind) {
  if (kind == "qp") return Type::kQp;
  if (kind == "cq") return Type::kCq;
  return Type::kSrq;
}

bool is_empty(const unsigned char* bytes, std::uint64_t size) {
  for (std::uint64_t i = 0; i < size; ++i) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

}  // namespace

void Kernel::control(const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  words >> verb;
  if (verb == "section") {
    std::string name;
    std::getline(words >> std::ws, name);
    return journal_.line("# " + name);
  }
  if (verb == "refuse") {
    std::string name;
    int error = 0;
    int times = 0;
    words >> name >> error >> times;
    return refusals_.add(name, error, times);
  }
  if (verb == "queues") return dump_queues();
  for (auto& [fd, context] : contexts_) {
    if (verb == "event") {
      std::uint32_t type = 0;
      std::uint64_t port = 0;
      words >> type >> port;
      send_event(*context, port, type);
    } else if (verb == "event-of") {
      std::string kind;
      std::uint32_t type = 0;
      words >> kind >> type;
      Object* newest = nullptr;
      for (const auto& [handle, object] : context->objects()) {
        if (object.type == type_of(kind)) newest = context->find_any(handle);
      }
      if (newest == nullptr) continue;
      ++newest->events;
      send_event(*context, newest->user_handle, type);
    } else if (verb == "invalidated") {
      std::uint32_t rkey = 0;
      words >> rkey;
      complete_invalidation(*context, rkey);
    } else if (verb == "remove") {
      send_event(*context, 1, kDeviceFatal);
      context->removed = true;
      context->destroy_all();
    }
  }
}

void Kernel::send_event(Context& context, std::uint64_t element, std::uint32_t type) {
  const ib_uverbs_async_event_desc event{element, type, 0};
  if (libc().write(context.async_writer, &event, sizeof(event)) < 0) journal_.line("an event is lost");
}

void Kernel::complete_invalidation(Context& context, std::uint32_t rkey) {
  const Object* qp = nullptr;
  for (const auto& [handle, object] : context.objects()) {
    if (object.type == Type::kQp) qp = &object;
  }
  if (qp == nullptr) return;
  Object* cq = nullptr;
  // The last one that it holds is for receiving.
  for (const std::uint32_t handle : qp->holds) {
    if (Object* held = context.find(Type::kCq, handle); held != nullptr) cq = held;
  }
  if (cq != nullptr) driver().complete_invalidation(*cq, *qp, rkey);
}

void Kernel::dump_queues() {
  for (const auto& [fd, context] : contexts_) {
    for (const auto& [handle, object] : context->objects()) {
      for (const Queue& queue : object.queues) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(queue.address);
        for (std::uint64_t index = 0; (index + 1) * queue.element <= queue.size; ++index) {
          const unsigned char* element = bytes + index * queue.element;
          if (is_empty(element, queue.element)) continue;
          journal_.line("queue #" + std::to_string(handle) + " " + queue.name + "[" + std::to_string(index) + "] " +
                        bytes_text(*context, element, queue.element, queue.addresses));
        }
      }
    }
  }
}

}  // namespace verbs::uverbs
