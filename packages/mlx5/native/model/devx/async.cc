// mlx5dv_devx_create_cmd_comp, mlx5dv_devx_obj_query_async, mlx5dv_devx_get_async_cmd_comp and their end: queries whose
// answers a program takes later. Here each is answered at once.
#include <cstring>
#include <vector>

#include "model/devx/channel.h"
#include "model/devx/events.h"
#include "model/devx/object.h"

namespace verbs::mlx5::model {
namespace {

struct Completions : mlx5dv_devx_cmd_comp {
  explicit Completions(Context& its_owner) : owner(&its_owner) {}
  Context* const owner;
  MessageChannel channel;
};

using AllCompletions = Live<Completions, mlx5dv_devx_cmd_comp>;
AllCompletions& all_completions() { return live<Completions, mlx5dv_devx_cmd_comp>(); }

constexpr std::size_t kRequestId = 8;  // bytes in front of an answer

}  // namespace

void forget_completions(Context& context) {
  all_completions().remove_if([&](const Completions& each) { return each.owner == &context; });
}

mlx5dv_devx_cmd_comp* mlx5dv_devx_create_cmd_comp(ibv_context* verbs) {
  if (!verbs) return null_with<mlx5dv_devx_cmd_comp>(EINVAL);
  const ModelLock guard(model_mutex());
  Context* context = context_of(verbs);
  if (!context) return null_with<mlx5dv_devx_cmd_comp>(EOPNOTSUPP);
  auto made = std::make_unique<Completions>(*context);
  if (const int error = made->channel.open()) return null_with<mlx5dv_devx_cmd_comp>(error);
  made->fd = made->channel.fd();
  return all_completions().add(std::move(made));
}

void mlx5dv_devx_destroy_cmd_comp(mlx5dv_devx_cmd_comp* handle) {
  const ModelLock guard(model_mutex());
  if (Completions* completions = all_completions().find(handle)) all_completions().remove(completions);
}

int mlx5dv_devx_obj_query_async(mlx5dv_devx_obj* object, const void* in, std::size_t in_size, std::size_t out_size,
                                std::uint64_t request_id, mlx5dv_devx_cmd_comp* handle) {
  const ModelLock guard(model_mutex());
  Completions* completions = all_completions().find(handle);
  Context* context = nullptr;
  if (!completions || !find_devx_object(object, &context) || context != completions->owner) return EINVAL;
  if (out_size > UINT16_MAX) return EINVAL;
  std::vector<std::uint8_t> answer(kRequestId + out_size);
  std::memcpy(answer.data(), &request_id, kRequestId);
  const int error = mlx5dv_devx_obj_query(object, in, in_size, answer.data() + kRequestId, out_size);
  // What the firmware rejects is an answer, too.
  if (error != 0 && error != EREMOTEIO) return error;
  return completions->channel.send(answer) ? 0 : EAGAIN;
}

// Waits without the lock, as a read() of the descriptor does.
int mlx5dv_devx_get_async_cmd_comp(mlx5dv_devx_cmd_comp* handle, mlx5dv_devx_async_cmd_hdr* answer, std::size_t size) {
  int fd = -1;
  {
    const ModelLock guard(model_mutex());
    const Completions* completions = all_completions().find(handle);
    if (!completions || !answer) return EINVAL;
    fd = completions->fd;
  }
  return receive_message(fd, answer, size, ENOSPC) < 0 ? errno : 0;
}

}  // namespace verbs::mlx5::model
