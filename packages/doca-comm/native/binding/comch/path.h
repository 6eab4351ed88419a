// A consumer or a producer of Comch, and the transfers that it has under way.
#pragma once

#include <memory>
#include <vector>

#include "binding/comch/end.h"
#include "binding/comch/mmap.h"

namespace verbs::doca_comm::binding {

class ComchPath final : public Context {
 public:
  // A consumer where there is an mmap. `tasks` transfers can be under way. Null with the error.
  static std::unique_ptr<ComchPath> create(ComchEnd& end, const Connection& connection, std::shared_ptr<Mmap> mmap,
                                           std::uint32_t tasks, doca_error_t* error);
  ~ComchPath() override;

  doca_error_t start() override;
  doca_error_t get_id(std::uint32_t* id) const;
  // Of a consumer: a message will go into that part of its mmap. `cookie` comes back with the completion.
  doca_error_t post_receive(std::uint64_t offset, std::uint64_t length, std::uint32_t cookie);
  // Of a producer: sends that part of the mmap, with immediate data, to one of the peer's consumers.
  static constexpr std::size_t kMaxImmediate = 1024;
  doca_error_t send(const std::shared_ptr<Mmap>& mmap, std::uint64_t offset, std::uint64_t length,
                    const std::uint8_t* immediate, std::uint32_t immediate_length, std::uint32_t consumer,
                    std::uint32_t cookie);

 private:
  // A transfer until its task completes. It keeps the memory.
  struct Slot {
    std::shared_ptr<Mmap> mmap;
    doca_buf* buf = nullptr;
    std::vector<std::uint8_t> immediate;
    std::uint32_t cookie = 0;
    Slot* next = nullptr;
  };

  ComchPath(ComchEnd& end, Kind kind, std::shared_ptr<Mmap> mmap, std::uint32_t tasks);

  const FastPathFunctions& fast() const { return *engine_.library().fast_path(); }
  bool is_consumer() const { return kind() == Kind::kConsumer; }
  // Null if all are under way.
  Slot* take_slot(const std::shared_ptr<Mmap>& mmap, std::uint64_t offset, std::uint64_t length,
                  std::uint64_t data_length, doca_error_t* error);
  void give_back(Slot* slot);
  doca_error_t submit(doca_task* task, Slot* slot);

  doca_error_t destroy_object() override;

  static void on_received(doca_comch_consumer_task_post_recv* task, doca_data task_data, doca_data ctx_data);
  static void on_sent(doca_comch_producer_task_send* task, doca_data task_data, doca_data ctx_data);

  ComchEnd& end_;
  const std::shared_ptr<Mmap> mmap_;
  const std::uint32_t tasks_;
  doca_comch_consumer* consumer_ = nullptr;
  doca_comch_producer* producer_ = nullptr;
  doca_buf_inventory* inventory_ = nullptr;
  std::vector<Slot> slots_;
  Slot* free_ = nullptr;
};

}  // namespace verbs::doca_comm::binding
