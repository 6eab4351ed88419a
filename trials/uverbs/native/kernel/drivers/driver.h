// What differs between the emulated adapters: the driver's part of requests and responses, and its mappings.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "kernel/call.h"
#include "kernel/journal.h"

namespace verbs::uverbs {

// What the verbs' own part of a request changes in a queue pair.
struct QpChange {
  std::uint32_t mask = 0;
  std::uint32_t state = 0;
  std::uint32_t port = 0;
  std::uint32_t path_mtu = 0;
};

class Driver {
 public:
  virtual ~Driver() = default;
  virtual std::uint32_t id() const = 0;  // RDMA_DRIVER_...
  // The errno of a refused open, or 0.
  virtual int get_context(Context& context, Input request, Output response) = 0;
  // The errno of an object that the driver refuses to make, or 0.
  virtual int refuses(const Context& context, const Object& object, Input request);
  // A new object: fills in its queues from the request, and the driver's response.
  virtual void created(Context& context, Object& object, std::uint32_t handle, Input request, Output response) = 0;
  virtual void query_device(Output response) = 0;
  // A queue pair that changes: the errno of a refusal, or 0.
  virtual int modifies(Context& context, Object& qp, const QpChange& change, Input request, Output response);
  // A queue of another size.
  virtual void resized(Context& context, Object& object, Output response);
  // The first completion of a queue: a SEND with invalidate arrived.
  virtual void complete_invalidation(Object& cq, const Object& qp, std::uint32_t rkey);
  // Where addresses stand in the driver's part of a request that makes an object of this type.
  virtual Addresses addresses(Type type) const;
  // The memory behind an offset of the device file.
  virtual void* map(Context& context, std::size_t length, off_t offset);
};

// The driver that UVERBS_DRIVER names.
Driver& driver();

}  // namespace verbs::uverbs
