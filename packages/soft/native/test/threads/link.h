// Two connected queue pairs that all threads use at once. A thread that uses them holds `present` for sharing; one that
// replaces them, alone.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "test/threads/player.h"

namespace verbs::soft::test::threads {

inline constexpr std::size_t kLength = 512;  // of a message
inline constexpr std::size_t kGrh = 40;
inline constexpr std::uint32_t kReceives = 32;
inline constexpr std::uint32_t kSources = 16;

// A device with the objects that outlive the links.
struct Side {
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_comp_channel* channel = nullptr;
  ibv_gid gid{};

  static Side open(const char* name);
  void close();
};

ibv_context* open_device(const char* name);
ibv_ah_attr address_of(const Side& side);

class Link {
 public:
  void make(std::array<Side, 2>& sides, ibv_qp_type type);
  void destroy();

  // One random call on an end. The caller holds `present` for sharing.
  void act(Player& player);

  std::shared_mutex present;
  // Of all atomic additions: completed with success, and posted.
  static std::atomic<std::uint64_t> added, posted;
  // The word that they go to; read it when nobody posts any more.
  std::uint64_t word() const { return ends_[0].word + ends_[1].word; }

 private:
  struct End {
    ibv_cq* cq = nullptr;
    ibv_qp* qp = nullptr;
    ibv_srq* srq = nullptr;
    ibv_mr* mr = nullptr;
    ibv_ah* ah = nullptr;  // to the other end
    // Sources, whose bytes never change; receives; and a place for writes and results that no thread reads.
    std::vector<std::uint8_t> memory;
    alignas(8) std::uint64_t word = 0;
    ibv_mr* word_mr = nullptr;
    std::atomic<int> unpolled{0};  // sends
    std::mutex mutex;
    std::vector<std::uint32_t> free;  // receives that are not posted

    std::uint8_t* source(std::uint32_t i) { return memory.data() + i * kLength; }
    std::uint8_t* receive(std::uint32_t i) { return source(kSources) + i * (kLength + kGrh); }
    std::uint8_t* scratch() { return receive(kReceives); }
  };

  void make_end(End& end, const Side& side);
  void connect(End& end, const End& peer, const Side& there);
  void send(Player& player, End& end, End& peer);
  void post_receive(Player& player, End& end);
  void poll(Player& player, End& end);
  void check_received(End& end, const ibv_wc& wc) const;

  ibv_qp_type type_ = IBV_QPT_RC;
  std::array<End, 2> ends_;
};

}  // namespace verbs::soft::test::threads
