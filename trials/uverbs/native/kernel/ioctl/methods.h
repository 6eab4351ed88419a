// The methods of the ioctl interface: which attributes each has, and what it does with them.
#pragma once

#include <rdma/rdma_user_ioctl_cmds.h>

#include <cstdint>
#include <vector>

#include "kernel/call.h"

namespace verbs::uverbs {

enum class Kind : std::uint8_t {
  kData,       // in: a value, or a pointer to a longer one
  kAddress,    // in: an address
  kOut,        // out
  kNew,        // out: the handle of the new object
  kHandle,     // in: an object that the new one holds
  kUsed,       // in: an object that is only used
  kHandles,    // in: several that the new one holds
  kDestroyed,  // in: the object that goes
  kChannel,    // in: the descriptor of a completion channel
  kAsync,      // in: the descriptor of asynchronous events
  kNewFd,      // out: a descriptor of events
};

// In a structure: the address of bytes that the kernel copies too.
struct Behind {
  std::size_t address;  // offset
  std::size_t count;    // offset of a number of 32 bits
  std::size_t unit;     // bytes of each
};

struct AttributeRule {
  std::uint16_t id;
  Kind kind = Kind::kData;
  Type type = Type::kNone;
  std::vector<Behind> behind = {};
};

// The attributes of one call, by their identifier.
class Attributes {
 public:
  explicit Attributes(std::vector<ib_uverbs_attr*> given) : given_(std::move(given)) {}
  ib_uverbs_attr* find(std::uint16_t id) const;
  Input input(std::uint16_t id) const;
  Output output(std::uint16_t id) const;
  bool has(std::uint16_t id) const { return find(id) != nullptr; }
  // A value of at most eight bytes; zero without the attribute.
  template <class T>
  T value(std::uint16_t id) const {
    return input(id).as<T>();
  }
  const std::vector<ib_uverbs_attr*>& all() const { return given_; }

 private:
  std::vector<ib_uverbs_attr*> given_;
};

struct Method {
  std::uint16_t object;
  std::uint16_t number;
  const char* name;
  std::vector<AttributeRule> rules;
  // nullptr: creates or destroys what the rules say, and nothing else.
  int (*run)(Call&, const Attributes&) = nullptr;
  Type makes = Type::kNone;  // what `run` makes
};

const Method* find_method(std::uint16_t object, std::uint16_t number);
const AttributeRule* find_rule(const Method& method, std::uint16_t id);

// Methods of one driver.
const std::vector<Method>& core_methods();
const std::vector<Method>& mlx5_methods();
const std::vector<Method>& hbl_methods();

}  // namespace verbs::uverbs
