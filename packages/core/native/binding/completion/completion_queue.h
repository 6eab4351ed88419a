// ibv_cq.
#pragma once

#include <vector>

#include "binding/completion/channel.h"
#include "binding/device/context.h"
#include "binding/lifetime/vendor_make.h"
#include "binding/posting/records.h"
#include "binding/posting/work_queue.h"

namespace verbs::core {

class CompletionQueue final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_CQ;

  // Owns `cq`; `channel` may be null. `wc_flags` describe an extended completion queue (ibv_cq_ex).
  CompletionQueue(std::shared_ptr<Context> context, const std::vector<std::shared_ptr<Object>>& parents, ibv_cq* cq,
                  ibv_cq_ex* extended, std::uint64_t wc_flags);
  ~CompletionQueue() override { dispose(); }

  void* pointer() const override { return cq_; }
  const Context& context() const override { return *context_; }
  ibv_cq* cq() const { return cq_; }

  // The result of createCq() for an existing queue: { handle, id, cqe }.
  static Napi::Value adopt(Napi::Env env, const std::shared_ptr<Context>& context,
                           const std::shared_ptr<CompletionChannel>& channel, ibv_cq* cq);

  // createCq(), by a vendor's function.
  static Napi::Value create(Napi::Env env, const napi_value* arguments, const VendorMake& vendor);

  // The QP of a queue that completes here is gone: nothing new will come, only completions that already wait. Until
  // they were polled the caller's ids are kept.
  void keep_until_polled(std::shared_ptr<RequestQueue> queue) noexcept;
  // The C object of the poster's work queue forgot all that was posted there (RESET): it begins anew with an empty one.
  template <typename Poster>
  void renew(Poster& poster) {
    const auto queue = std::static_pointer_cast<WorkQueue>(poster.queue());
    if (queue->idle()) return;
    poster.replace(queue->successor());
    queue->release_references();
    keep_until_polled(queue);
  }
  // Polls up to `count` completions into records of bytes. Returns their number, or a negative errno.
  int poll(std::uint8_t* records, int count);

  static void init(Napi::Object exports);

 private:
  int destroy() override;
  int destroyed(int error) override;
  struct Extras {
    std::uint64_t timestamp = 0;
    std::uint64_t wallclock_ns = 0;
    bool has_tag = false;
  };
  // Writes a record of bytes and releases the request.
  void write_record(const ibv_wc& wc, const Extras& extras, std::uint8_t* record);
  int poll_extended(std::uint8_t* records, int count);

  std::shared_ptr<Context> context_;
  ibv_cq* cq_;
  ibv_cq_ex* extended_;
  std::uint64_t wc_flags_;
  std::vector<std::shared_ptr<RequestQueue>> abandoned_;
};

}  // namespace verbs::core
