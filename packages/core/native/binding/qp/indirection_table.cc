#include "binding/qp/indirection_table.h"

#include <bit>
#include <cerrno>

#include "binding/lifetime/handle.h"
#include "binding/qp/receive_work_queue.h"

namespace verbs::core {
namespace {

// createRwqIndTable(context, queues: wq[]): { handle, indTblNum } | -errno. A power of two of them.
Napi::Value create_rwq_ind_table(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto context = unwrap<Context>(info, 0);
  const auto list = info[1].As<Napi::Array>();
  if (!std::has_single_bit(list.Length())) return failure(env, EINVAL);
  std::vector<ibv_wq*> queues;
  std::vector<std::shared_ptr<Object>> parents{context};
  for (std::uint32_t i = 0; i < list.Length(); i++) {
    const auto queue = hold<ReceiveWorkQueue>(env, list.Get(i));
    if (&queue->context() != context.get()) return failure(env, EINVAL);
    queues.push_back(queue->wq());
    parents.push_back(queue);
  }
  ibv_rwq_ind_table_init_attr attr{};
  attr.log_ind_tbl_size = static_cast<std::uint32_t>(std::countr_zero(list.Length()));
  attr.ind_tbl = queues.data();
  errno = 0;
  ibv_rwq_ind_table* table = ibv_create_rwq_ind_table(context->ctx(), &attr);
  if (table == nullptr) return failure(env, creation_error());
  const auto owned = std::make_shared<IndirectionTable>(
      parents, table, [](const Context&, ibv_rwq_ind_table* made) { return ibv_destroy_rwq_ind_table(made); });
  Napi::Object result = Napi::Object::New(env);
  result.Set("indTblNum", table->ind_tbl_num);
  result.Set("handle", wrap_object(env, owned));
  return result;
}

}  // namespace

void init_indirection_table(Napi::Object exports) {
  export_function<create_rwq_ind_table>(exports, "createRwqIndTable");
}

}  // namespace verbs::core
