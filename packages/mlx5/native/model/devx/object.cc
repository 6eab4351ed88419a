#include "model/devx/object.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "model/devx/capabilities.h"
#include "model/devx/events.h"
#include "model/devx/flow_table.h"
#include "model/devx/queues.h"
#include "steering/headers/bytes.h"

namespace verbs::mlx5::model {
namespace {

// mlx5dv_devx_obj_create, _query, _modify, _destroy, _export, _import and mlx5dv_devx_general_cmd: the firmware's
// command interface, for the objects that the model has.
//
// A command that the firmware rejects fails with EREMOTEIO, its status in the output; one that the kernel rejects fails
// with EINVAL.

Live<DevxObject>& objects() { return live<DevxObject>(); }
Live<mlx5dv_devx_obj>& handles() { return live<mlx5dv_devx_obj>(); }

mlx5dv_devx_obj* add_handle(Context& context, DevxObject& object) {
  return handles().add(std::make_unique<mlx5dv_devx_obj>(mlx5dv_devx_obj{&context, &object}));
}

// An exported object: its kind and number, by which the contexts of its command file find it. Objects of two kinds may
// have one number.
struct Exported {
  static constexpr std::uint32_t kMagic = 0x6d6c3578;
  std::uint32_t magic = kMagic;
  std::uint32_t kind = 0;  // the opcode of its query
  std::uint32_t id = 0;
};

constexpr std::uint16_t kQueryHcaCap = 0x100, kCreateCq = 0x400, kCreateQp = 0x500, kCreateTir = 0x900;
constexpr std::uint16_t kCreateFlowTable = 0x930, kCreateFlowGroup = 0x933, kSetFlowTableEntry = 0x936;
constexpr std::uint16_t kAllocFlowCounter = 0x939;

struct Command {
  std::vector<std::uint8_t> in;  // a copy: another thread may write to the program's, and the output may overlap it
  std::span<std::uint8_t> out;
  std::uint16_t opcode = 0;
};

// EINVAL without room for the headers.
int parse(const void* in, std::size_t in_size, void* out, std::size_t out_size, Command* command) {
  if (!in || !out || in_size < kDevxHeader || out_size < kDevxHeader) return EINVAL;
  if (in_size > UINT16_MAX || out_size > UINT16_MAX) return EINVAL;  // the length of an attribute
  command->in.assign(static_cast<const std::uint8_t*>(in), static_cast<const std::uint8_t*>(in) + in_size);
  command->out = {static_cast<std::uint8_t*>(out), out_size};
  command->opcode = steering::load16(command->in.data());
  std::fill(command->out.begin(), command->out.end(), std::uint8_t{0});
  return 0;
}

int finish(const Command& command, DevxStatus status) {
  command.out[0] = static_cast<std::uint8_t>(status);
  return status == DevxStatus::kOk ? 0 : EREMOTEIO;
}

DevxStatus create(Context& context, const Command& command, std::unique_ptr<DevxObject>* object) {
  switch (command.opcode) {
    case kAllocFlowCounter:
      return DevxCounters::create(context, command.in, command.out, object);
    case kCreateCq:
      return DevxCq::create(context, command.in, command.out, object);
    case kCreateQp:
      return DevxQp::create(context, command.in, command.out, object);
    case kCreateFlowTable:
      return DevxTable::create(context, command.in, command.out, object);
    case kCreateFlowGroup:
      return DevxGroup::create(context, command.in, command.out, object);
    case kSetFlowTableEntry:
      return DevxEntry::create(context, command.in, command.out, object);
    case kCreateTir:
      return DevxTir::create(context, command.in, command.out, object);
    default:
      return DevxStatus::kBadOp;
  }
}

}  // namespace

DevxObject* find_devx_object(const mlx5dv_devx_obj* handle, Context** context) {
  const mlx5dv_devx_obj* known = handles().find(handle);
  if (known && context) *context = known->context;
  return known ? known->object : nullptr;
}

DevxObject* find_devx_object(const Context& context, std::uint16_t query_opcode, std::uint32_t id) {
  DevxObject* found = nullptr;
  objects().each([&](DevxObject& each) {
    if (each.id == id && each.query_opcode() == query_opcode && shares_objects(*each.owner, context)) found = &each;
  });
  return found;
}

// Each before those that it uses (entries, groups, tables; queue pairs, completion queues), which may be of another
// context of the command file.
void forget_devx_objects(Context& context) {
  handles().remove_if([&](const mlx5dv_devx_obj& handle) { return shares_objects(*handle.context, context); });
  for (bool more = true; more;) {
    more = false;
    objects().remove_if([&](const DevxObject& object) {
      const bool removed = shares_objects(*object.owner, context) && !object.in_use();
      more |= removed;
      return removed;
    });
  }
  // In a forked child flows stay, and with them what they use.
  objects().remove_if([&](const DevxObject& object) { return shares_objects(*object.owner, context); });
}

DevxObject::~DevxObject() { forget_subscriptions(*this); }

mlx5dv_devx_obj* mlx5dv_devx_obj_create(ibv_context* verbs, const void* in, std::size_t in_size, void* out,
                                        std::size_t out_size) {
  if (!verbs) return null_with<mlx5dv_devx_obj>(EINVAL);
  const ModelLock guard(model_mutex());
  Context* context = context_of(verbs);
  if (!context) return null_with<mlx5dv_devx_obj>(EOPNOTSUPP);
  Command command;
  if (const int error = parse(in, in_size, out, out_size, &command)) return null_with<mlx5dv_devx_obj>(error);
  std::unique_ptr<DevxObject> object;
  const DevxStatus status = create(*context, command, &object);
  if (const int error = finish(command, status)) return null_with<mlx5dv_devx_obj>(error);
  Making<DevxObject> made(objects(), std::move(object));
  mlx5dv_devx_obj* handle = add_handle(*context, *made);
  made.keep();
  return handle;
}

int mlx5dv_devx_obj_query(mlx5dv_devx_obj* handle, const void* in, std::size_t in_size, void* out,
                          std::size_t out_size) {
  const ModelLock guard(model_mutex());
  DevxObject* object = find_devx_object(handle);
  Command command;
  if (!object) return EINVAL;
  if (const int error = parse(in, in_size, out, out_size, &command)) return error;
  if (command.opcode != object->query_opcode() || !object->is_named_in(command.in)) return EINVAL;
  return finish(command, object->query(command.in, command.out));
}

int mlx5dv_devx_obj_modify(mlx5dv_devx_obj* handle, const void* in, std::size_t in_size, void* out,
                           std::size_t out_size) {
  const ModelLock guard(model_mutex());
  DevxObject* object = find_devx_object(handle);
  Command command;
  if (!object) return EINVAL;
  if (const int error = parse(in, in_size, out, out_size, &command)) return error;
  if (!object->is_named_in(command.in)) return EINVAL;
  return finish(command, object->modify(command.opcode, command.in));
}

int mlx5dv_devx_obj_destroy(mlx5dv_devx_obj* handle) {
  const ModelLock guard(model_mutex());
  DevxObject* object = find_devx_object(handle);
  if (!object) return EINVAL;
  // The kernel does not count users; the firmware rejects the command.
  if (object->in_use()) return EREMOTEIO;
  handles().each([&](mlx5dv_devx_obj& each) {
    if (each.object == object) each.object = nullptr;
  });
  objects().remove(object);
  handles().remove(handle);
  return 0;
}

int mlx5dv_devx_obj_export(mlx5dv_devx_obj* handle, void* data) {
  const ModelLock guard(model_mutex());
  const DevxObject* object = find_devx_object(handle);
  if (!object || !data) return EINVAL;
  const Exported exported{.kind = object->query_opcode(), .id = object->id};
  std::memcpy(data, &exported, sizeof exported);
  return 0;
}

// As with the kernel, the object must be of a context of the same command file, by ibv_import_device().
mlx5dv_devx_obj* mlx5dv_devx_obj_import(ibv_context* verbs, void* data) {
  if (!verbs || !data) return null_with<mlx5dv_devx_obj>(EINVAL);
  const ModelLock guard(model_mutex());
  Context* context = context_of(verbs);
  if (!context) return null_with<mlx5dv_devx_obj>(EOPNOTSUPP);
  Exported exported;
  std::memcpy(&exported, data, sizeof exported);
  DevxObject* found = find_devx_object(*context, static_cast<std::uint16_t>(exported.kind), exported.id);
  if (exported.magic != Exported::kMagic || !found) return null_with<mlx5dv_devx_obj>(EINVAL);
  return add_handle(*context, *found);
}

// The object stays, as it does in the kernel, until it is destroyed or its command file is closed.
void mlx5dv_devx_obj_unimport(mlx5dv_devx_obj* handle) {
  const ModelLock guard(model_mutex());
  handles().remove(handle);
}

// Of the three kinds (VAR, memory, objects), the model has objects only. The others have a size all the same, so that
// programs get as far as EOPNOTSUPP.
void _mlx5dv_get_export_sizes(mlx5dv_export_sizes* sizes, std::size_t size) {
  constexpr std::array<std::uint32_t, 3> kSizes{sizeof(Exported), sizeof(Exported), sizeof(Exported)};
  if (!sizes) return;
  std::memset(static_cast<void*>(sizes), 0, size);
  std::memcpy(static_cast<void*>(sizes), kSizes.data(), std::min(size, sizeof kSizes));
}

int mlx5dv_devx_general_cmd(ibv_context* verbs, const void* in, std::size_t in_size, void* out, std::size_t out_size) {
  if (!verbs) return EINVAL;
  const ModelLock guard(model_mutex());
  Context* context = context_of(verbs);
  if (!context) return EOPNOTSUPP;
  Command command;
  if (const int error = parse(in, in_size, out, out_size, &command)) return error;
  if (command.opcode != kQueryHcaCap) return EINVAL;
  return finish(command, query_capabilities(*context, command.in, command.out));
}

namespace {

using steering::load24;
using steering::store24;

constexpr std::uint16_t kQueryTir = 0x903;
constexpr std::size_t kContextAt = 32;  // of both commands
constexpr std::size_t kDispatchAt = 4, kInlineQueueAt = 29;

}  // namespace

DevxStatus DevxTir::create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                           std::unique_ptr<DevxObject>* object) {
  if (in.size() < kContextAt + kContextSize) return DevxStatus::kBadInputLength;
  const std::uint8_t* attributes = in.data() + kContextAt;
  // Spreading over several queues (RSS) is not modelled.
  if (attributes[kDispatchAt] >> 4 != 0) return DevxStatus::kBadParam;
  // A queue pair's receive queue has the number of the queue pair.
  RawQp* qp = find_receive_queue(context, load24(attributes + kInlineQueueAt));
  if (!qp) return DevxStatus::kBadResource;
  auto tir = std::make_unique<DevxTir>(context, context.device->next_id++ & 0xffffff, *qp);
  std::copy_n(attributes, kContextSize, tir->attributes_.begin());
  store24(out.data() + 9, tir->id);
  *object = std::move(tir);
  return DevxStatus::kOk;
}

DevxTir::DevxTir(Context& context, std::uint32_t its_id, RawQp& qp)
    : DevxObject(context, its_id), qp_(qp), used_qp_(qp) {}

std::uint16_t DevxTir::query_opcode() const { return kQueryTir; }

bool DevxTir::is_named_in(std::span<const std::uint8_t> in) const { return load24(in.data() + 9) == id; }

DevxStatus DevxTir::query(std::span<const std::uint8_t>, std::span<std::uint8_t> out) {
  if (out.size() < kContextAt + kContextSize) return DevxStatus::kBadOutputLength;
  std::copy(attributes_.begin(), attributes_.end(), out.begin() + kContextAt);
  return DevxStatus::kOk;
}

namespace {

using steering::load32;
using steering::store32;
using steering::store64;

constexpr std::uint16_t kQueryFlowCounter = 0x93b;
constexpr std::size_t kAllocateSize = 16, kQuerySize = 32;
constexpr std::size_t kStatistics = 16;  // packets and octets of one counter
constexpr std::uint32_t kBulkUnit = 128;

// The input gives the size of a bulk by its logarithm (newer) or in units of 128 counters (older); neither means one
// counter.
std::uint32_t count_of(std::span<const std::uint8_t> in) {
  const std::uint32_t logarithm = in[14] & 0x1f;
  if (logarithm != 0) return std::uint32_t{1} << logarithm;
  return in[15] != 0 ? kBulkUnit * in[15] : 1;
}

}  // namespace

DevxStatus DevxCounters::create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                                std::unique_ptr<DevxObject>* object) {
  if (in.size() < kAllocateSize) return DevxStatus::kBadInputLength;
  Device& device = *context.device;
  const std::uint32_t count = count_of(in);
  if (count > (std::uint32_t{1} << device.capabilities.log_max_flow_counter) - device.quota.counters) {
    return DevxStatus::kLimit;
  }
  *object = std::make_unique<DevxCounters>(context, device.next_id, count);
  device.next_id += count;
  store32(out.data() + 8, (*object)->id);
  return DevxStatus::kOk;
}

DevxCounters::DevxCounters(Context& context, std::uint32_t its_id, std::uint32_t count)
    : DevxObject(context, its_id), counters_(std::make_shared<std::vector<steering::Counter>>(count)) {
  context.device->quota.counters += count;
}

DevxCounters::~DevxCounters() { owner->device->quota.counters -= count(); }

std::uint16_t DevxCounters::query_opcode() const { return kQueryFlowCounter; }

bool DevxCounters::is_named_in(std::span<const std::uint8_t> in) const {
  if (in.size() < kQuerySize) return false;
  const std::uint32_t wanted = load32(in.data() + 28);
  return wanted >= id && wanted - id < count();
}

DevxStatus DevxCounters::query(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) {
  const std::uint32_t options = load32(in.data() + 24);
  const bool clear = options >> 31 != 0;
  // Results go into the output only: commands have no memory key to write with.
  if ((options >> 30 & 1) != 0) return DevxStatus::kBadParam;
  const std::uint32_t wanted = std::max<std::uint32_t>(options & 0x3fffffff, 1);
  const std::uint32_t first = load32(in.data() + 28) - id;
  if (wanted > count() - first) return DevxStatus::kBadParam;
  if ((out.size() - kDevxHeader) / kStatistics < wanted) return DevxStatus::kBadOutputLength;
  const DeviceLock lock(*owner);
  for (std::uint32_t i = 0; i < wanted; ++i) {
    steering::Counter& counter = (*counters_)[first + i];
    store64(out.data() + kDevxHeader + i * kStatistics, counter.packets);
    store64(out.data() + kDevxHeader + i * kStatistics + 8, counter.bytes);
    if (clear) counter = {};
  }
  return DevxStatus::kOk;
}

}  // namespace verbs::mlx5::model
