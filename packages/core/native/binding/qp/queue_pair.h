// ibv_qp, with its two work queues.
#pragma once

#include <optional>
#include <vector>

#include "binding/completion/completion_queue.h"
#include "binding/device/domains.h"
#include "binding/lifetime/vendor_make.h"
#include "binding/memory/protection_domain.h"
#include "binding/posting/send_poster.h"
#include "binding/posting/work_queue.h"
#include "binding/qp/shared_receive_queue.h"

namespace verbs::core {

class QueuePair final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_QP;

  // The queues and domains of a QP. The type of the QP decides which of them it has.
  struct Parts {
    std::shared_ptr<ProtectionDomain> pd;
    std::shared_ptr<CompletionQueue> send_cq;
    std::shared_ptr<CompletionQueue> recv_cq;
    std::shared_ptr<SharedReceiveQueue> srq;
    std::shared_ptr<XrcDomain> xrcd;
    std::vector<std::shared_ptr<Object>> others;
    VendorMake maker;

    const Context& context() const { return pd != nullptr ? pd->context() : xrcd->context(); }
  };

  // Owns `qp`. `cap` is the capacity it was created with.
  QueuePair(Parts parts, ibv_qp* qp, const ExtendedCalls& extended, const ibv_qp_cap& cap);
  ~QueuePair() override;

  void* pointer() const override { return qp_; }
  const Context& context() const override { return parts_.context(); }
  ibv_qp* qp() const { return qp_; }

  // Post the first `count` requests of a batch (records.h). 0, a positive errno of the C library, or a PostError.
  int post_send(Cursor& cursor, std::uint32_t count);
  int post_recv(Cursor& cursor, std::uint32_t count);
  // One BIND_MW request, by ibv_bind_mw.
  int bind_mw(Cursor& cursor, std::uint32_t count);

  // ibv_modify_qp, or a vendor's function in its place, succeeded.
  void modified(const ibv_qp_attr& attr, int mask);

  // What it was created with.
  const ibv_qp_cap& cap() const { return cap_; }
  // The provider's word, which RESET and INIT clear.
  std::uint64_t provider_word() const { return provider_word_; }
  void set_provider_word(std::uint64_t word) { provider_word_ = word; }
  // Something that it uses: dropped after the queue pair was destroyed or reset.
  struct Kept {
    int (*drop)(void*);
    void* data;
  };
  void keep(const Kept& kept) { kept_.push_back(kept); }

  // Multicast groups. Closing detaches the remaining ones. 0 or an errno.
  int attach(const ibv_gid& gid, std::uint16_t lid);
  int detach(const ibv_gid& gid, std::uint16_t lid);

  // It was attached to a completion counter, which cannot be destroyed before it.
  void count_at(const std::shared_ptr<Object>& counter) { add_parent(counter); }

  static void init(Napi::Object exports);

 private:
  int destroy() override;
  int destroyed(int error) override;
  void abandon();
  // After RESET nothing is posted any more.
  void forget();
  // 0, or the first errno of a drop.
  int drop_kept();

  struct Group {
    ibv_gid gid;
    std::uint16_t lid;
  };
  std::vector<Group>::iterator find_group(const ibv_gid& gid, std::uint16_t lid);

  Parts parts_;
  ibv_qp* qp_;
  ibv_qp_cap cap_;
  std::uint64_t provider_word_ = 0;
  std::vector<Kept> kept_;
  std::vector<Group> groups_;  // attached
  std::optional<SendPoster> send_;
  std::optional<ReceivePoster> recv_;  // not with a shared receive queue
};

}  // namespace verbs::core
