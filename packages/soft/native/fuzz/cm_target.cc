// Two connection managers whose programs do anything in any order, on a network that loses, repeats and forges
// messages. No event comes after a release, and when everything is released and time has passed, nothing is left.
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "cm/manager.h"
#include "cm/message.h"
#include "fuzz/check.h"
#include "fuzz/input.h"

using namespace verbs::soft;
using namespace verbs::soft::fuzz;

namespace {

constexpr cm::Nanos kSecond = 1'000'000'000;
constexpr std::uint64_t kService = 0x01060000 | 7174;
constexpr std::size_t kMaxSteps = 400;

struct Owned {
  cm::Manager* manager = nullptr;
  std::uint32_t id = 0;
  bool released = false;
};

struct Frame {
  std::size_t to;
  wire::Path path;
  cm::Mad mad;
};

class World;

class Node final : public cm::Outlet {
 public:
  Node(World& world, std::size_t index)
      : manager({.guid = 100 + index, .seed = 1000 * (index + 1), .max_connections = 64}, *this),
        world_(world),
        index_(index) {}
  void send_mad(std::uint8_t, const wire::Path& path, cm::MadView mad) override;

  cm::Manager manager;

 private:
  World& world_;
  std::size_t index_;
};

// Listeners have owners too; a request makes a new one.
struct Listener {
  World* world;
  std::size_t node;
};

class World {
 public:
  explicit World(Input& input) : input_(input) {
    for (std::size_t i = 0; i < 2; ++i) {
      nodes_.push_back(std::make_unique<Node>(*this, i));
      listeners_[i] = {this, i};
      for (const std::uint8_t datagrams : {0, 1}) {
        verbs_soft_cm_listen_attr attr{};
        attr.service_id = kService;
        attr.datagrams = datagrams;
        std::uint32_t number = 0;
        FUZZ_CHECK(nodes_[i]->manager.listen(attr, {on_request, &listeners_[i]}, now_, &number) == 0);
      }
    }
  }

  static wire::Gid address(std::size_t index) {
    const std::uint8_t bytes[4] = {10, 0, 0, static_cast<std::uint8_t>(index + 1)};
    return wire::Gid::from_ipv4(bytes);
  }

  void take(std::size_t from, const wire::Path& path, cm::MadView mad) {
    Frame frame{path.dgid == address(from) ? from : 1 - from, path, {}};
    std::ranges::copy(mad, frame.mad.begin());
    if (queue_.size() < 256) queue_.push_back(frame);
  }

  void run() {
    for (std::size_t step = 0; step < kMaxSteps && !input_.empty(); ++step) act();
    const cm::Nanos limit = now_ + 400 * kSecond;
    for (;;) {
      settle();
      // Time until the next deadline changes nothing.
      const cm::Nanos next = std::min(nodes_[0]->manager.next_deadline(), nodes_[1]->manager.next_deadline());
      if (next > limit) break;
      advance(std::max(kSecond, next - now_));
    }
    for (const auto& node : nodes_) FUZZ_CHECK(node->manager.size() == 0);
  }

 private:
  // A connection that was requested keeps its listener's callback.
  static void* on_request(void* data, const verbs_soft_cm_event* event) {
    if (event->type != VERBS_SOFT_CM_REQUEST && event->type != VERBS_SOFT_CM_LOOKUP) return on_event(data, event);
    const auto& listener = *static_cast<Listener*>(data);
    World& world = *listener.world;
    touch(*event);
    if (world.input_.one_in(8)) return nullptr;
    auto& owned = world.owned_.emplace_back(std::make_unique<Owned>());
    owned->manager = &world.nodes_[listener.node]->manager;
    owned->id = event->connection;
    return owned.get();
  }
  static void* on_event(void* data, const verbs_soft_cm_event* event) {
    const auto& owned = *static_cast<Owned*>(data);
    FUZZ_CHECK(!owned.released && (owned.id == 0 || owned.id == event->connection));
    touch(*event);
    return nullptr;
  }
  // Reads all of the private data.
  static void touch(const verbs_soft_cm_event& event) {
    const auto* bytes = static_cast<const volatile std::uint8_t*>(event.data.bytes);
    FUZZ_CHECK(event.data.size <= 224);
    for (std::uint32_t i = 0; i < event.data.size; ++i) static_cast<void>(bytes[i]);
  }

  Owned* any() { return owned_.empty() ? nullptr : owned_[input_.byte() % owned_.size()].get(); }
  cm::Data data() { return input_.bytes(input_.byte()); }

  template <typename Attr>
  void fill(Attr& attr, std::size_t from, std::size_t to) {
    attr.path.port_num = 1;
    std::ranges::copy(address(from).bytes, attr.path.sgid);
    std::ranges::copy(address(to).bytes, attr.path.dgid);
    std::ranges::copy(address(from).bytes, attr.ip.source);
    std::ranges::copy(address(to).bytes, attr.ip.destination);
    attr.service_id = kService + input_.one_in(8);
    const cm::Data bytes = data();
    attr.data = {bytes.data(), static_cast<std::uint32_t>(bytes.size())};
  }

  void request(bool datagram) {
    const std::size_t from = input_.below(2), to = input_.one_in(4) ? from : 1 - from;
    auto owned = std::make_unique<Owned>();
    owned->manager = &nodes_[from]->manager;
    int error = 0;
    if (datagram) {
      verbs_soft_cm_lookup_attr attr{};
      fill(attr, from, to);
      error = owned->manager->lookup(attr, {on_event, owned.get()}, now_, &owned->id);
    } else {
      verbs_soft_cm_connect_attr attr{};
      fill(attr, from, to);
      attr.end.qp_num = input_.byte();
      attr.ack_timeout = input_.byte();
      error = owned->manager->connect(attr, {on_event, owned.get()}, now_, &owned->id);
    }
    if (error == 0) owned_.push_back(std::move(owned));
  }

  void release(Owned& owned) {
    if (owned.released) return;
    owned.manager->release(owned.id, now_);
    owned.released = true;
  }

  void call(Owned& owned) {
    if (owned.released) return;
    cm::Manager& manager = *owned.manager;
    switch (input_.below(7)) {
      case 0:
        manager.accept(owned.id,
                       {.qp_num = input_.byte(),
                        .psn = 1,
                        .responder_resources = 1,
                        .initiator_depth = 1,
                        .flow_control = 1,
                        .rnr_retry_count = 7,
                        .srq = 0,
                        .ece_vendor_id = 0xabcdef,
                        .ece_options = 7},
                       data(), now_);
        break;
      case 1:
        manager.ready(owned.id, data(), now_);
        break;
      case 2:
        manager.reject(owned.id, input_.byte(), data(), now_);
        break;
      case 3:
        manager.establish(owned.id, now_);
        break;
      case 4:
        manager.disconnect(owned.id, data(), now_);
        break;
      case 5:
        manager.answer(owned.id, input_.byte(), 1, 2, data(), now_);
        break;
      default:
        release(owned);
    }
  }

  // Releases everything, also what requests that arrive late have made.
  void settle() {
    for (std::size_t known = owned_.size() + 1; known != owned_.size();) {
      known = owned_.size();
      for (const auto& owned : owned_) release(*owned);
      while (!queue_.empty()) deliver(true);
    }
  }

  void deliver(bool keep_order) {
    if (queue_.empty()) return;
    const auto at = queue_.begin() + (keep_order ? 0 : static_cast<std::ptrdiff_t>(input_.byte() % queue_.size()));
    const Frame frame = *at;
    queue_.erase(at);
    nodes_[frame.to]->manager.deliver(1, frame.path, frame.mad, now_);
  }

  void advance(cm::Nanos duration) {
    now_ += duration;
    for (const auto& node : nodes_) {
      node->manager.advance(now_);
      FUZZ_CHECK(node->manager.next_deadline() > now_);
    }
  }

  // With numbers of connections that exist, so that it is not always a stranger's.
  void forge() {
    Frame frame{input_.below(2), {}, {}};
    frame.path.sgid = address(input_.below(3));
    frame.path.dgid = address(frame.to);
    const cm::Data bytes = data();
    std::ranges::copy(bytes.first(std::min<std::size_t>(bytes.size(), 232)), frame.mad.begin() + cm::kMadHeader);
    cm::MadHeader{input_.byte(), static_cast<cm::Attribute>(0x10 + input_.below(12))}.emit(&frame.mad);
    for (const std::size_t at : {std::size_t{0}, std::size_t{4}}) {
      if (const Owned* owned = any()) wire::store_be(&frame.mad[cm::kMadHeader + at], owned->id);
    }
    const std::size_t size = input_.one_in(8) ? input_.byte() : frame.mad.size();
    nodes_[frame.to]->manager.deliver(1, frame.path, std::span(frame.mad).first(size), now_);
  }

  void act() {
    switch (input_.below(10)) {
      case 0:
        return request(false);
      case 1:
        return request(true);
      case 2:
      case 3:
        if (Owned* owned = any()) call(*owned);
        return;
      case 4:
        return deliver(false);
      case 5:
        if (!queue_.empty()) queue_.pop_front();  // lost
        return;
      case 6:
        if (!queue_.empty()) queue_.push_back(queue_.front());  // twice
        return;
      case 7:
        return forge();
      case 8:
        return advance(input_.byte() * kSecond / 50);
      default:
        return deliver(true);
    }
  }

  Input& input_;
  cm::Nanos now_ = kSecond;
  std::deque<Frame> queue_;
  std::vector<std::unique_ptr<Owned>> owned_;
  std::array<Listener, 2> listeners_{};
  std::vector<std::unique_ptr<Node>> nodes_;
};

void Node::send_mad(std::uint8_t, const wire::Path& path, cm::MadView mad) { world_.take(index_, path, mad); }

// Whatever a message says, it is the same after writing it again.
template <typename Message>
void check_round_trip(cm::MadView mad) {
  cm::Mad first{}, second{};
  Message::parse(mad).emit(&first);
  Message::parse(cm::MadView(first)).emit(&second);
  FUZZ_CHECK(first == second);
}

void check_messages(const std::uint8_t* data, std::size_t size) {
  cm::Mad mad{};
  std::copy_n(data, std::min(size, mad.size()), mad.begin());
  const cm::MadView view(mad);
  check_round_trip<cm::Req>(view);
  check_round_trip<cm::Rep>(view);
  check_round_trip<cm::Rej>(view);
  check_round_trip<cm::Mra>(view);
  check_round_trip<cm::Notice>(view);
  check_round_trip<cm::Dreq>(view);
  check_round_trip<cm::Apr>(view);
  check_round_trip<cm::SidrReq>(view);
  check_round_trip<cm::SidrRep>(view);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_messages(data, size);
  Input input(data, size);
  World(input).run();
  return 0;
}
