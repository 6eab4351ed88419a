// mlx5dv_devx_obj_create, _query, _modify, _destroy, _export, _import and mlx5dv_devx_general_cmd: the firmware's
// command interface, for the objects that the model has.
//
// A command that the firmware rejects fails with EREMOTEIO, its status in the output; one that the kernel rejects fails
// with EINVAL.
#include "model/devx/object.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "model/devx/capabilities.h"
#include "model/devx/counters.h"
#include "model/devx/tir.h"
#include "steering/headers/bytes.h"

namespace verbs::mlx5::model {

namespace {

Live<DevxObject>& objects() { return live<DevxObject>(); }
Live<mlx5dv_devx_obj>& handles() { return live<mlx5dv_devx_obj>(); }

mlx5dv_devx_obj* add_handle(Context& context, DevxObject& object) {
  return handles().add(std::make_unique<mlx5dv_devx_obj>(mlx5dv_devx_obj{&context, &object}));
}

// An exported object: its number, by which the contexts of its command file find it.
struct Exported {
  static constexpr std::uint32_t kMagic = 0x6d6c3578;
  std::uint32_t magic = kMagic;
  std::uint32_t id = 0;
};

constexpr std::uint16_t kQueryHcaCap = 0x100, kCreateTir = 0x900, kAllocFlowCounter = 0x939;

struct Command {
  std::span<const std::uint8_t> in;
  std::span<std::uint8_t> out;
  std::uint16_t opcode = 0;
};

// EINVAL without room for the headers.
int parse(const void* in, std::size_t in_size, void* out, std::size_t out_size, Command* command) {
  if (!in || !out || in_size < kDevxHeader || out_size < kDevxHeader) return EINVAL;
  if (in_size > UINT16_MAX || out_size > UINT16_MAX) return EINVAL;  // the length of an attribute
  command->in = {static_cast<const std::uint8_t*>(in), in_size};
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

void forget_devx_objects(Context& context) {
  handles().remove_if([&](const mlx5dv_devx_obj& handle) { return handle.context == &context; });
  objects().remove_if([&](const DevxObject& object) { return object.owner == &context; });
}

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

// No object of the model can be modified by a command.
int mlx5dv_devx_obj_modify(mlx5dv_devx_obj* handle, const void* in, std::size_t in_size, void* out,
                           std::size_t out_size) {
  const ModelLock guard(model_mutex());
  Command command;
  if (!find_devx_object(handle)) return EINVAL;
  if (const int error = parse(in, in_size, out, out_size, &command)) return error;
  return finish(command, DevxStatus::kBadOp);
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
  const Exported exported{.id = object->id};
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
  DevxObject* found = nullptr;
  objects().each([&](DevxObject& each) {
    if (each.id == exported.id && shares_objects(*each.owner, *context)) found = &each;
  });
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

}  // namespace verbs::mlx5::model
