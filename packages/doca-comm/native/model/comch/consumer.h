// A consumer: receives into buffers that the program posts, from any producer of the other end.
#pragma once

#include <memory>
#include <vector>

#include "doca_comch_consumer.h"
#include "model/comch/fast_path.h"
#include "model/memory/mmap.h"

struct doca_comch_consumer_task_post_recv : doca_task {
  static constexpr std::uint8_t kKind = 3;
  doca_buf* buf = nullptr;
  std::uint32_t producer = 0;
  std::uint32_t immediate_length = 0;
  std::uint8_t* immediate = nullptr;
};

namespace verbs::doca_comm::model::comch {

class Consumer final
    : public TaskPath<doca_comch_consumer_task_post_recv, doca_comch_consumer_task_post_recv_completion_cb_t> {
 public:
  static doca_error_t create(doca_comch_connection* connection, doca_mmap* mmap, doca_comch_consumer** consumer);
  Consumer(std::shared_ptr<Link> link, doca_dev* dev, std::uint32_t id, std::shared_ptr<Mmap> mmap);
  ~Consumer() override;

  std::uint32_t immediate_length() const { return immediate_length_; }
  doca_error_t set_immediate_length(std::uint32_t length);
  doca_error_t allocate(doca_buf* buf, doca_comch_consumer_task_post_recv** task);

  // The handshakes' thread, under the mutex. False if the producer cannot be connected.
  bool pair(const HandshakeMessage& request);
  void unpair(const HandshakeMessage& request);

  bool progress() override;
  doca_error_t submit(doca_task& task) override;

 protected:
  doca_error_t open_all() override;
  void shut() override;
  void begin_close() override;
  bool has_step() const override { return false; }

 private:
  struct Pair {
    std::uint32_t producer;
    std::uint32_t remote_qpn;
    ibv_qp* qp;
    EndAttributes own;
  };
  int post(doca_comch_consumer_task_post_recv& task);
  void complete(const ibv_wc& completion);
  void count(std::uint32_t qpn);
  std::uint32_t counted(std::uint32_t qpn) const;
  void retire(const Pair& pair);
  void reap();

  const std::shared_ptr<Mmap> mmap_;
  std::uint32_t immediate_length_ = kMaxImmediate;
  std::vector<bool> posted_;  // by the index of the task
  // What the consumer's thread has received, of each queue pair; the latest ones.
  struct Count {
    std::uint32_t qpn;
    std::uint32_t messages;
  };
  std::vector<Count> counts_;
  ibv_srq* srq_ = nullptr;
  std::vector<Pair> pairs_;
  // Queue pairs of producers that have gone. They are destroyed when what they completed was polled.
  std::vector<ibv_qp*> retired_, dying_;
  std::atomic<bool> reap_{false};
};

}  // namespace verbs::doca_comm::model::comch

struct doca_comch_consumer : verbs::doca_comm::model::Handle<verbs::doca_comm::model::comch::Consumer> {};

namespace verbs::doca_comm::model::comch {

Consumer* find_consumer(const doca_comch_consumer* handle);
// IN_USE unless it is idle.
doca_error_t destroy_consumer(doca_comch_consumer* handle);

}  // namespace verbs::doca_comm::model::comch
