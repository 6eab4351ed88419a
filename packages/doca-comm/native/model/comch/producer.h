// A producer: sends buffers to consumers of the other end.
#pragma once

#include <memory>
#include <vector>

#include "doca_comch_producer.h"
#include "model/comch/fast_path.h"

struct doca_comch_producer_task_send : doca_task {
  static constexpr std::uint8_t kKind = 2;
  const doca_buf* buf = nullptr;
  std::uint32_t consumer = 0;
  std::uint32_t immediate_length = 0;
  std::uint8_t immediate[verbs::doca_comm::model::comch::kMaxImmediate] = {};
};

namespace verbs::doca_comm::model::comch {

class Producer final : public TaskPath<doca_comch_producer_task_send, doca_comch_producer_task_send_completion_cb_t> {
 public:
  static doca_error_t create(doca_comch_connection* connection, doca_comch_producer** producer);
  Producer(std::shared_ptr<Link> link, doca_dev* dev, std::uint32_t id);
  ~Producer() override;

  doca_error_t allocate(const doca_buf* buf, const std::uint8_t* immediate, std::uint32_t immediate_length,
                        std::uint32_t consumer, doca_comch_producer_task_send** task);

  // The handshakes' thread, and the control path's, under the mutex.
  void on_answer(const HandshakeMessage& message);
  void on_expired(std::uint32_t consumer);
  void on_delivered(std::uint32_t consumer, const Delivery& delivery);
  Nanos on_timer(Nanos now);

  bool progress() override;
  doca_error_t submit(doca_task& task) override;

 protected:
  doca_error_t open_all() override;
  void shut() override;
  void begin_close() override;
  bool has_step() const override { return changed_; }

 private:
  enum class Phase : std::uint8_t { kAsked, kReady, kGone };
  // The way to one consumer.
  struct Pair {
    std::uint32_t consumer = 0;
    std::uint32_t serial = 0;  // in the numbers of its work requests
    ibv_qp* qp = nullptr;
    EndAttributes own;
    std::uint32_t limit = 0;  // of immediate data
    Nanos asked_at = 0;
    std::uint32_t completed = 0;              // messages, as the acknowledgements say
    std::atomic<std::uint32_t> delivered{0};  // and as the consumer said when it went
    std::atomic<Phase> phase{Phase::kAsked};
    TaskList waiting, sent;  // of the producer's thread
  };

  Pair* find(std::uint32_t consumer) const;
  doca_error_t ask(std::uint32_t consumer, Pair** pair);
  doca_error_t create_queue_pair(Pair& pair);
  void send_request(Pair& pair, Nanos now);
  void post(Pair& pair, doca_comch_producer_task_send& task);
  void step();
  void complete(const ibv_wc& completion);
  // Tells the consumer's end, destroys the queue pair; the tasks are done with that status.
  void drop(Pair& pair, doca_error_t status);

  std::vector<std::unique_ptr<Pair>> pairs_;
  std::uint32_t last_serial_ = 0;
  std::atomic<bool> changed_{false};  // step() has something to do
};

}  // namespace verbs::doca_comm::model::comch

struct doca_comch_producer : verbs::doca_comm::model::Handle<verbs::doca_comm::model::comch::Producer> {};

namespace verbs::doca_comm::model::comch {

Producer* find_producer(const doca_comch_producer* handle);
// IN_USE unless it is idle.
doca_error_t destroy_producer(doca_comch_producer* handle);

}  // namespace verbs::doca_comm::model::comch
