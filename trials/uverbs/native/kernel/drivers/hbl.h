// The driver's part of hbl, with the rules of a Gaudi2: ports that are set up once, queues that the program maps.
#pragma once

#include "kernel/drivers/driver.h"

namespace verbs::uverbs {

// A number of our own: only the emulated kernel reads it.
constexpr std::uint32_t kHblDriver = 0xffff;
constexpr std::uint64_t kHblPage = 4096;

class Hbl final : public Driver {
 public:
  std::uint32_t id() const override { return kHblDriver; }
  int get_context(Context& context, Input request, Output response) override;
  int refuses(const Context& context, const Object& object, Input request) override;
  void created(Context& context, Object& object, std::uint32_t handle, Input request, Output response) override;
  int modifies(Context& context, Object& qp, const QpChange& change, Input request, Output response) override;
  void query_device(Output response) override;
  void* map(Context& context, std::size_t length, off_t offset) override;

 private:
  std::uint32_t next_qp_ = 1;  // hardware number
};

// 0, or EINVAL for a port that the context did not open.
int hbl_port_error(const Context& context, std::uint32_t port);
// Whether bit `port` is set.
bool hbl_has(std::uint64_t mask, std::uint32_t port);
// Memory that the program maps; the result is the offset. What the program writes there is dumped by `element` bytes.
std::uint64_t hbl_memory(Context& context, Object& object, const char* name, std::uint64_t size, std::uint64_t element);

}  // namespace verbs::uverbs
