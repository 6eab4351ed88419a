// Messages in place of packets, through rings (link/message.h).
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "link/message.h"
#include "link/neighbour.h"
#include "test/link/shm/shm_end.h"
#include "wire/headers.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
namespace wire = verbs::soft::wire;

namespace {

constexpr std::uint32_t kNumber = 17;

Message message_of(wire::Operation operation, std::uint32_t psn) {
  Message message{};
  message.opcode = operation;
  message.flags = Message::kAckReq;
  message.dest_qpn = kNumber;
  message.psn = psn;
  message.value = 0x01020304;
  message.address = 0x1122334455667788;
  message.rkey = 0x99aabbcc;
  message.route = {.flow_label = 5, .source_port = 0xc123, .traffic_class = 7, .hop_limit = 33};
  return message;
}

std::vector<std::uint8_t> payload_of(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  return bytes;
}

// Keeps messages and packets in their order: a message by its PSN, a packet by 1000 + its number.
class Taker final : public Receiver {
 public:
  void deliver(std::span<const std::uint8_t> frame) override {
    order.push_back(1000 + number_of({frame.begin(), frame.end()}));
  }
  bool deliver_message(const Message& message, std::span<const std::uint8_t> bytes, const MessageEnds& ends) override {
    order.push_back(message.psn);
    payload.assign(bytes.begin(), bytes.end());
    last = ends;
    return true;
  }
  std::vector<std::uint32_t> order;
  std::vector<std::uint8_t> payload;
  MessageEnds last;
};

bool send_message(End& from, End& to, const Message& message, const std::vector<std::uint8_t>& payload) {
  MessageWay* way = from.link->message_way(from.address, to.address, kNumber);
  std::uint8_t* at = way == nullptr ? nullptr : way->reserve(payload.size());
  if (at == nullptr) return false;
  if (!payload.empty()) std::memcpy(at, payload.data(), payload.size());
  way->commit(message, payload.size());
  return true;
}

void receive_all(End& end, Receiver& receiver) {
  while (end.link->prepare_sleep(), end.link->receive(receiver, 64) != 0) {
  }
}

// Until the peer has said that it knows the form, which it does when it takes the ring.
void meet_both(End& from, End& to) {
  from.meet(to);
  REQUIRE(eventually([&] {
    to.look();
    MessageWay* way = from.link->message_way(from.address, to.address, kNumber);
    return way != nullptr && way->reserve(0) != nullptr;
  }));
}

}  // namespace

TEST_CASE("messages and frames arrive in their order, with their payload") {
  End a, b;
  CHECK(a.link->message_way(a.address, b.address, kNumber) == nullptr);
  const std::uint64_t version = Neighbourhood::version();
  meet_both(a, b);
  CHECK(Neighbourhood::version() != version);
  CHECK(a.link->message_way(b.address, b.address, kNumber) == nullptr);
  Taker taker;
  const std::vector<std::uint8_t> payload = payload_of(100);
  CHECK(send_message(a, b, message_of(wire::kSendOnly, 1), payload_of(4096)));
  a.send_to(b, 2);
  CHECK(send_message(a, b, message_of(wire::kAcknowledge, 3), {}));
  CHECK(send_message(a, b, message_of(wire::kWriteOnlyImm, 4), payload));
  receive_all(b, taker);
  CHECK(taker.order.empty());
  a.link->flush();
  receive_all(b, taker);
  CHECK(taker.order == std::vector<std::uint32_t>{1, 1002, 3, 4});
  CHECK(taker.payload == payload);
  CHECK(taker.last.source == a.address);
  CHECK(taker.last.destination == b.address);
  CHECK(a.link->counters().sent == 4);
  CHECK(b.link->counters().received == 4);
}

TEST_CASE("whoever knows packets only gets the packet that a message stands for") {
  End a, b;
  meet_both(a, b);
  const std::vector<std::uint8_t> payload = payload_of(61);
  CHECK(send_message(a, b, message_of(wire::kWriteOnlyImm, 0x123456), payload));
  CHECK(send_message(a, b, message_of(wire::kAcknowledge, 5), {}));
  a.link->flush();
  const std::vector<Frame> frames = b.receive();
  REQUIRE(frames.size() == 2);
  const auto view = wire::parse_frame(frames[0]);
  REQUIRE(view);
  const wire::Path path = view->path();
  CHECK(path.sgid == a.address);
  CHECK(path.dgid == b.address);
  CHECK(path.flow_label == 5);
  CHECK(path.source_port == 0xc123);
  CHECK(path.traffic_class == 7);
  CHECK(path.hop_limit == 33);
  const wire::Bth bth = wire::Bth::parse(view->transport.data());
  CHECK(bth.opcode == wire::kWriteOnlyImm);
  CHECK(bth.psn == 0x123456);
  CHECK(bth.dest_qpn == kNumber);
  CHECK(bth.ack_req);
  CHECK(bth.pad == 3);
  const wire::OpcodeInfo& info = *wire::opcode_info(bth.opcode);
  const wire::Reth reth = wire::Reth::parse(view->transport.data() + info.reth);
  CHECK(reth.address == 0x1122334455667788);
  CHECK(reth.rkey == 0x99aabbcc);
  CHECK(reth.length == 61);
  CHECK(std::memcmp(view->transport.data() + info.header_size, payload.data(), payload.size()) == 0);
  CHECK(wire::parse_frame(frames[1])->transport.size() == wire::Bth::kSize + wire::Aeth::kSize + wire::kIcrcSize);
}

TEST_CASE("what stands for no packet is rejected, and the others go on") {
  End a, b;
  meet_both(a, b);
  CHECK(send_message(a, b, message_of(wire::kReadRequest, 1), {}));
  Message other = message_of(wire::kSendOnly, 2);
  other.opcode |= static_cast<std::uint8_t>(wire::Transport::kUd);
  CHECK(send_message(a, b, other, {}));
  CHECK(send_message(a, b, message_of(wire::kAcknowledge, 3), payload_of(4)));
  CHECK(send_message(a, b, message_of(wire::kSendOnly, 4), payload_of(4097)));
  CHECK(send_message(a, b, message_of(wire::kSendOnly, 5), payload_of(4)));
  a.link->flush();
  CHECK(b.receive().size() == 1);
  CHECK(b.link->counters().rejected == 4);
  CHECK(b.link->counters().broken == 0);
}

TEST_CASE("no message overtakes the frames that wait for room") {
  End a, b;
  meet_both(a, b);
  std::uint32_t sent = 0;
  while (send_message(a, b, message_of(wire::kSendOnly, sent), payload_of(4000))) ++sent;
  CHECK(sent > 100);
  a.send_to(b, 1, 4000);
  CHECK(a.link->congested(b.address, kNumber));
  CHECK_FALSE(send_message(a, b, message_of(wire::kAcknowledge, 0), {}));
  Taker taker;
  receive_all(b, taker);
  a.link->relieve();
  a.link->flush();
  CHECK(send_message(a, b, message_of(wire::kSendOnly, 7), {}));
  a.link->flush();
  receive_all(b, taker);
  REQUIRE(taker.order.size() == sent + 2);
  CHECK(taker.order[sent] == 1001);
  CHECK(taker.order[sent + 1] == 7);
}

TEST_CASE("a peer of another release, which does not know messages, gets frames") {
  SharedMemory memory;
  int fd = -1;
  REQUIRE(SharedMemory::create(kRingMemory, &memory, &fd) == 0);
  close(fd);
  RingWriter writer(memory.data());
  CHECK_FALSE(writer.reader_takes_messages());
  RingReader reader(memory.data());
  reader.take_messages();
  CHECK(writer.reader_takes_messages());
}

TEST_CASE("the way ends with the peer") {
  End a;
  {
    End b;
    meet_both(a, b);
    const std::uint64_t version = Neighbourhood::version();
    b.link.reset();
    const wire::Gid gone = b.address;
    CHECK(eventually([&] {
      a.look();
      return a.link->message_way(a.address, gone, kNumber) == nullptr;
    }));
    CHECK(Neighbourhood::version() != version);
  }
}
