// Queues that programs make by devx commands, and fill and empty in their own memory: completion queues and RC queue
// pairs, in the formats of the adapter.
//
// Behind a queue pair is one of the NIC's. A thread takes work requests from the program's memory to it, and brings its
// completions back: there is nothing that tells of a write to a doorbell.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "model/devx/object.h"
#include "model/devx/umem.h"

namespace verbs::mlx5::model {

// CREATE_CQ and QUERY_CQ.
class DevxCq final : public DevxObject {
 public:
  static constexpr std::uint16_t kQueryOpcode = 0x402;  // QUERY_CQ
  static constexpr std::size_t kContextSize = 64, kEntrySize = 64;
  using Entry = std::array<std::uint8_t, kEntrySize>;

  static DevxStatus create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                           std::unique_ptr<DevxObject>* object);
  // Where its entries and its doorbell record are.
  struct Places {
    Umem& entries;
    std::uint64_t entries_at;
    Umem& record;
    std::uint64_t record_at;
  };
  DevxCq(Context& context, std::uint32_t id, const Places& places, std::span<const std::uint8_t, kContextSize> given);

  // Writes an entry, with its owner bit and `opcode`. A full queue fails, and raises the event of that.
  void put(Entry entry, std::uint8_t opcode);
  bool failed() const { return failed_; }

  std::uint16_t query_opcode() const override;
  bool is_named_in(std::span<const std::uint8_t> in) const override;
  DevxStatus query(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) override;

 private:
  void fail(std::uint8_t syndrome);

  Places places_;
  Use used_entries_, used_record_;
  std::array<std::uint8_t, kContextSize> attributes_{};
  std::uint32_t log_size_, stride_;
  bool ignores_overrun_;
  std::uint32_t producer_ = 0;
  bool failed_ = false;
};

// CREATE_QP, QUERY_QP and the commands that change its state.
class DevxQp final : public DevxObject {
 public:
  static constexpr std::size_t kContextSize = 232;

  static DevxStatus create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                           std::unique_ptr<DevxObject>* object);
  // The queues of a queue pair in its memory: the receive queue, then the send queue.
  struct Layout {
    std::uint32_t receive_count = 0, receive_stride = 0;  // requests, bytes of each
    std::uint32_t send_count = 0;                         // units of 64 bytes
    std::uint64_t receive_size() const { return std::uint64_t{receive_count} * receive_stride; }
    std::uint64_t size() const { return receive_size() + std::uint64_t{send_count} * 64; }
  };
  struct Places {
    Umem& queues;
    std::uint64_t queues_at;
    Umem& record;
    std::uint64_t record_at;
    DevxCq& send_cq;
    DevxCq& receive_cq;
  };
  // Takes the NIC's queues.
  DevxQp(Context& context, ibv_qp* qp, ibv_cq* cq, const Layout& layout, const Places& places,
         std::span<const std::uint8_t, kContextSize> given);
  ~DevxQp() override;

  // Takes what was posted, and completes what is done. Whether there was anything.
  bool step();

  std::uint16_t query_opcode() const override;
  bool is_named_in(std::span<const std::uint8_t> in) const override;
  DevxStatus query(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) override;
  DevxStatus modify(std::uint16_t opcode, std::span<const std::uint8_t> in) override;

 private:
  struct Request;
  int change(ibv_qp_attr& attr, int mask);
  bool take_receives();
  bool take_sends();
  bool take_send(std::uint32_t available);
  bool parse(std::span<const std::uint8_t> bytes, Request* request) const;
  bool complete();
  void complete_send(const ibv_wc& wc);
  void complete_receive(const ibv_wc& wc);
  void put_error(DevxCq& cq, std::uint8_t opcode, std::uint8_t syndrome, std::uint32_t counter, std::uint32_t tail);
  // Nothing is taken any more, and what was taken is flushed.
  void fail();

  ibv_qp* const qp_;
  ibv_cq* const cq_;
  const Layout layout_;
  Places places_;
  Uses uses_;
  std::array<std::uint8_t, kContextSize> attributes_{};
  std::uint32_t received_ = 0, sent_ = 0;  // how far the queues were taken
  std::uint8_t port_num_ = 1;
  bool failed_ = false;
};

// Starts the thread for queue pairs unless it runs. It ends with the last of them.
void serve_queue_pairs();

}  // namespace verbs::mlx5::model
