// One call of the ioctl interface: its attributes are checked, handles looked up, objects made and destroyed.
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include <cerrno>
#include <cstdio>

#include "kernel/create.h"
#include "kernel/drivers/driver.h"
#include "kernel/ioctl/methods.h"
#include "kernel/kernel.h"
#include "kernel/write_commands.h"

namespace verbs::uverbs {
namespace {

constexpr std::uint16_t kInline = 8;
constexpr std::size_t kMostBehind = 4096;  // bytes

const AttributeRule kDriverRequest{UVERBS_ATTR_UHW_IN};
const AttributeRule kDriverResponse{UVERBS_ATTR_UHW_OUT, Kind::kOut};

const AttributeRule* rule_of(const Method& method, std::uint16_t id) {
  const AttributeRule* rule = find_rule(method, id);
  if (rule != nullptr) return rule;
  if (id == UVERBS_ATTR_UHW_IN) return &kDriverRequest;
  if (id == UVERBS_ATTR_UHW_OUT) return &kDriverResponse;
  return nullptr;
}

std::string behind_text(const Context& context, const void* data, const Behind& behind) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::uint64_t address = 0;
  std::uint32_t count = 0;
  std::memcpy(&address, bytes + behind.address, sizeof(address));
  std::memcpy(&count, bytes + behind.count, sizeof(count));
  const std::size_t size = count * behind.unit;
  if (address == 0 || size > kMostBehind) return {};
  return "[" + bytes_text(context, reinterpret_cast<const void*>(address), size) + "]";
}

std::string attribute_text(const Context& context, const AttributeRule& rule, const ib_uverbs_attr& attribute,
                           const Addresses& addresses) {
  char head[48];
  std::snprintf(head, sizeof(head), " %x", attribute.attr_id);
  std::string text = head;
  if (attribute.attr_data.enum_data.elem_id != 0) text += "." + std::to_string(attribute.attr_data.enum_data.elem_id);
  if ((attribute.flags & UVERBS_ATTR_F_MANDATORY) == 0) text += "?";
  switch (rule.kind) {
    case Kind::kOut:
    case Kind::kNew:
    case Kind::kNewFd:
      return text + ">" + std::to_string(attribute.len);
    case Kind::kChannel:
      return text + "=" + (attribute.data_s64 < 0 ? "none" : "channel");
    case Kind::kAsync:
      return text + "=async";
    case Kind::kHandle:
    case Kind::kUsed:
    case Kind::kDestroyed:
      return text + "=#" + std::to_string(attribute.data);
    case Kind::kAddress:
    case Kind::kHandles:
    case Kind::kData:
      break;
  }
  const bool inlined = attribute.len <= kInline;
  const void* data =
      inlined ? static_cast<const void*>(&attribute.data) : reinterpret_cast<const void*>(attribute.data);
  // A value inside the attribute is eight bytes for the kernel, however long it says that it is.
  Addresses hidden = rule.kind == Kind::kAddress ? Addresses{0} : addresses;
  for (const Behind& behind : rule.behind) hidden.push_back(behind.address);
  text +=
      "=" + std::to_string(attribute.len) + ":" + bytes_text(context, data, inlined ? kInline : attribute.len, hidden);
  for (const Behind& behind : rule.behind) text += behind_text(context, data, behind);
  return text;
}

std::vector<std::uint32_t> handles_of(const ib_uverbs_attr& attribute) {
  const bool inlined = attribute.len <= kInline;
  const auto* bytes = inlined ? reinterpret_cast<const unsigned char*>(&attribute.data)
                              : reinterpret_cast<const unsigned char*>(attribute.data);
  std::vector<std::uint32_t> handles(attribute.len / sizeof(std::uint32_t));
  std::memcpy(handles.data(), bytes, handles.size() * sizeof(std::uint32_t));
  return handles;
}

bool exists(Context& context, const AttributeRule& rule, const ib_uverbs_attr& attribute) {
  switch (rule.kind) {
    case Kind::kHandle:
    case Kind::kUsed:
    case Kind::kDestroyed:
      return context.find(rule.type, static_cast<std::uint32_t>(attribute.data)) != nullptr;
    case Kind::kHandles:
      for (std::uint32_t handle : handles_of(attribute)) {
        if (context.find(rule.type, handle) == nullptr) return false;
      }
      return true;
    default:
      return true;
  }
}

std::vector<Reference> references_of(const Method& method, const Attributes& attributes) {
  std::vector<Reference> references;
  for (const ib_uverbs_attr* attribute : attributes.all()) {
    const AttributeRule& rule = *rule_of(method, attribute->attr_id);
    if (rule.kind == Kind::kHandle) references.push_back({rule.type, static_cast<std::uint32_t>(attribute->data)});
    if (rule.kind != Kind::kHandles) continue;
    for (std::uint32_t handle : handles_of(*attribute)) references.push_back({rule.type, handle});
  }
  return references;
}

// How many events there were: libibverbs waits until the program has acknowledged them all.
void answer_destroy(const Method& method, const Attributes& attributes, Type type, std::uint32_t events) {
  for (const AttributeRule& rule : method.rules) {
    if (rule.kind != Kind::kOut || !attributes.has(rule.id)) continue;
    if (type == Type::kCq) {
      attributes.output(rule.id).put(ib_uverbs_destroy_cq_resp{0, events});
    } else {
      attributes.output(rule.id).put(events);
    }
  }
}

int execute(Call& call, const Method& method, const Attributes& attributes) {
  std::uint32_t made = 0;
  Type made_type = Type::kNone;
  for (ib_uverbs_attr* attribute : attributes.all()) {
    const AttributeRule& rule = *rule_of(method, attribute->attr_id);
    if (rule.kind == Kind::kDestroyed) {
      const auto handle = static_cast<std::uint32_t>(attribute->data);
      std::uint32_t events = 0;
      const int error = call.context.destroy(rule.type, handle, &events);
      if (error != 0) return error;
      answer_destroy(method, attributes, rule.type, events);
    }
    if (rule.kind == Kind::kNew) {
      Object object;
      object.type = made_type = rule.type;
      const int error = create(call, std::move(object), references_of(method, attributes), made);
      if (error != 0) return error;
      attribute->data = made;
    }
    if (rule.kind == Kind::kNewFd) {
      const EventDescriptor events = make_event_descriptor();
      if (events.program < 0) return EMFILE;
      call.context.async_writer = events.writer;
      attribute->data_s64 = events.program;
    }
  }
  const int error = method.run != nullptr ? method.run(call, attributes) : 0;
  if (error != 0 && made_type != Type::kNone) call.context.destroy(made_type, made);
  return error;
}

}  // namespace

int Kernel::run_ioctl(Context& context, ib_uverbs_ioctl_hdr& header) {
  const Method* method = find_method(header.object_id, header.method_id);
  std::string name = method != nullptr
                         ? method->name
                         : "object " + std::to_string(header.object_id) + " method " + std::to_string(header.method_id);
  std::vector<ib_uverbs_attr*> given;
  for (std::uint16_t i = 0; i < header.num_attrs; ++i) given.push_back(&header.attrs[i]);
  const Attributes attributes(given);
  const WriteCommand* command = nullptr;
  if (method != nullptr && attributes.has(UVERBS_ATTR_WRITE_CMD) && header.object_id == UVERBS_OBJECT_DEVICE &&
      header.method_id == UVERBS_METHOD_INVOKE_WRITE) {
    command = find_write_command(attributes.value<std::uint32_t>(UVERBS_ATTR_WRITE_CMD));
    name = command != nullptr ? command->name
                              : "write " + std::to_string(attributes.value<std::uint32_t>(UVERBS_ATTR_WRITE_CMD));
  }

  const Type makes = command != nullptr ? command->makes : method != nullptr ? method->makes : Type::kNone;
  int error = method != nullptr ? refusals_.take(name) : EPROTONOSUPPORT;
  std::string text = "ioctl " + name;
  for (const ib_uverbs_attr* attribute : given) {
    const AttributeRule* rule = method != nullptr ? rule_of(*method, attribute->attr_id) : nullptr;
    if (rule == nullptr) {
      text += " unknown " + std::to_string(attribute->attr_id);
      if (error == 0) error = EPROTONOSUPPORT;
      continue;
    }
    const bool of_command = command != nullptr && attribute->attr_id == UVERBS_ATTR_CORE_IN;
    const bool of_driver =
        attribute->attr_id == UVERBS_ATTR_UHW_IN && find_rule(*method, UVERBS_ATTR_UHW_IN) == nullptr;
    text += attribute_text(context, *rule, *attribute,
                           of_command  ? command->addresses
                           : of_driver ? driver().addresses(makes)
                                       : Addresses{});
    if (error == 0 && !exists(context, *rule, *attribute)) error = ENOENT;
  }
  if (error == 0) {
    Call call{context, {}, {}, {}, {}};
    call.driver_request = attributes.input(UVERBS_ATTR_UHW_IN);
    call.driver_response = attributes.output(UVERBS_ATTR_UHW_OUT);
    error = execute(call, *method, attributes);
  }
  journal_.line(text + " -> " + std::to_string(error));
  return error;
}

}  // namespace verbs::uverbs
