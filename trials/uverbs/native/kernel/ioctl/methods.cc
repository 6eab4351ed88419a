#include "kernel/ioctl/methods.h"

#include <rdma/ib_user_ioctl_verbs.h>

#include "kernel/drivers/driver.h"
#include "kernel/drivers/hbl.h"

namespace verbs::uverbs {
namespace {

constexpr std::uint16_t kInline = 8;  // a longer value is behind a pointer

const Method* find_in(const std::vector<Method>& methods, std::uint16_t object, std::uint16_t number) {
  for (const Method& method : methods) {
    if (method.object == object && method.number == number) return &method;
  }
  return nullptr;
}

}  // namespace

ib_uverbs_attr* Attributes::find(std::uint16_t id) const {
  for (ib_uverbs_attr* attribute : given_) {
    if (attribute->attr_id == id) return attribute;
  }
  return nullptr;
}

Input Attributes::input(std::uint16_t id) const {
  const ib_uverbs_attr* attribute = find(id);
  if (attribute == nullptr) return {};
  if (attribute->len <= kInline) return {reinterpret_cast<const unsigned char*>(&attribute->data), kInline};
  return {reinterpret_cast<const unsigned char*>(attribute->data), attribute->len};
}

Output Attributes::output(std::uint16_t id) const {
  ib_uverbs_attr* attribute = find(id);
  if (attribute == nullptr) return {};
  attribute->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
  return {reinterpret_cast<unsigned char*>(attribute->data), attribute->len};
}

const AttributeRule* find_rule(const Method& method, std::uint16_t id) {
  for (const AttributeRule& rule : method.rules) {
    if (rule.id == id) return &rule;
  }
  return nullptr;
}

const Method* find_method(std::uint16_t object, std::uint16_t number) {
  const Method* method = find_in(core_methods(), object, number);
  if (method == nullptr && driver().id() == RDMA_DRIVER_MLX5) method = find_in(mlx5_methods(), object, number);
  if (method == nullptr && driver().id() == kHblDriver) method = find_in(hbl_methods(), object, number);
  return method;
}

}  // namespace verbs::uverbs
