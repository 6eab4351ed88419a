// Ends of Comch against one that breaks the protocol: hostile frames on all of its queue pairs, those of the fast path
// included, and hostile handshakes, at random and in any order. Few sequences here; VERBS_STRESS_ROUNDS says how many
// more, and VERBS_COMCH_SEED which one alone.
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <thread>

#include "model/bluefield/device.h"
#include "model/comch/fast_path.h"
#include "test/support/fast_path.h"
#include "test/support/hostile.h"

using namespace verbs::doca_comm::model;
using namespace verbs::doca_comm::model::test;
using Type = HandshakeMessage::Type;

namespace {

constexpr unsigned kFew = 50;
constexpr std::size_t kBuffer = 600;

unsigned setting(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

// An honest server, and an honest client that must be served whatever others do.
struct ComchStage {
  ComchStage() : server(engine, devices, "comch-stage"), client(engine, devices, "comch-stage") {
    server.seen.on_message = [this](doca_comch_connection* from, const std::string& message) {
      if (message == "still served") CHECK(server.send(from, echo) == DOCA_SUCCESS);
    };
    REQUIRE(doca_ctx_start(server.ctx) == DOCA_SUCCESS);
    REQUIRE(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
    engine.run_until([&] { return state_of(client.ctx) == DOCA_CTX_STATE_RUNNING && !server.seen.connected.empty(); });
    honest = server.seen.connected[0];
  }
  void serves() {
    client.seen.messages.clear();
    REQUIRE(client.send(echo) == DOCA_SUCCESS);
    engine.run_until([&] { return client.seen.messages.size() == 1; });
    CHECK(client.seen.messages[0] == echo);
    server.seen.messages.clear();
    server.seen.senders.clear();
    CHECK(std::count(server.seen.disconnected.begin(), server.seen.disconnected.end(), honest) == 0);
  }
  void turn(int times) {
    for (int i = 0; i < times; ++i) doca_pe_progress(engine.pe);
  }

  const std::string echo = "still served";
  Devices devices;
  ComchEngine engine;
  ComchServer server;
  ComchClient client;
  doca_comch_connection* honest = nullptr;
};

// What the hostile end does next, on a connection whose other end is honest.
class Attack {
 public:
  Attack(Hostile& hostile, std::mt19937& random, HandshakeMessage envelope)
      : hostile_(hostile), random_(random), envelope_(std::move(envelope)) {}

  std::uint32_t consumer = 0;  // of the honest end
  bool paired = false;

  void act() {
    answer();
    switch (below(9)) {
      case 0:
      case 1:
        return data();
      case 2:
        return control();
      case 3:
      case 4:
        return announce();
      case 5:
        return handshake();
      case 6:
        return pair();
      default:
        return bulk();
    }
  }

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  bool one_in(std::uint32_t count) { return below(count) == 0; }
  std::uint32_t any_number() {
    static constexpr std::uint32_t kEdges[] = {0,  1,    2,    31,       32,         33,        64,
                                               65, 4080, 4081, 0xffffff, 0x7fffffff, 0xffffffff};
    return one_in(2) ? kEdges[below(std::size(kEdges))] : below(200);
  }
  ibv_wr_opcode opcode() {
    static constexpr ibv_wr_opcode kOthers[] = {IBV_WR_RDMA_WRITE,           IBV_WR_RDMA_READ,
                                                IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_RDMA_WRITE_WITH_IMM,
                                                IBV_WR_SEND_WITH_INV,        IBV_WR_SEND_WITH_IMM};
    return one_in(12) ? kOthers[below(std::size(kOthers))] : IBV_WR_SEND;
  }
  std::string bytes(std::uint32_t most) {
    std::string text(below(most + 1), '\0');
    for (char& each : text) each = static_cast<char>(random_());
    return text;
  }

  void data() {
    if (one_in(6)) return hostile_.data(bytes(5000), opcode());
    const std::string text = bytes(300);
    const bool right = !one_in(4);
    const auto kind = static_cast<std::uint8_t>(right ? std::uint32_t{kDataKind} : below(8));
    hostile_.data(data_frame(kind, right ? static_cast<std::uint32_t>(text.size()) : any_number(), text), opcode());
  }
  void control() {
    if (one_in(6)) return hostile_.control(bytes(40), opcode());
    hostile_.control(control_frame(static_cast<std::uint8_t>(below(6)), any_number()), opcode());
  }
  // Consumers that it has, has not, or has again.
  void announce() {
    std::string frame = control_frame(one_in(3) ? kExpiredKind : kConsumerKind, one_in(10) ? any_number() : 0);
    const std::uint32_t id = one_in(8) ? any_number() : 1 + below(70);
    for (int i = 0; i < 3; ++i) frame[static_cast<std::size_t>(1 + i)] = static_cast<char>(id >> 8 * i);
    hostile_.data(frame);
  }
  void handshake() {
    if (one_in(4)) return hostile_.send(bytes(HandshakeMessage::kSize));
    HandshakeMessage message = envelope_;
    message.type = static_cast<Type>(1 + below(static_cast<std::uint32_t>(HandshakeMessage::kLastType)));
    message.end = random_half();
    message.producer = any_number();
    message.consumer = any_number();
    message.limit = any_number();
    if (one_in(8)) message.client_id ^= 1;
    if (one_in(8)) message.key[below(16)] ^= 1;
    hostile_.send(message);
  }
  EndAttributes random_half() {
    EndAttributes end = hostile_.half(static_cast<std::uint8_t>(below(3)));
    if (one_in(2)) end.data_qpn = one_in(2) ? hostile_.bulk_qpn() : below(0x1000000);
    if (one_in(4)) end.psn = below(0x1000000);
    if (one_in(4)) end.max_msg_size = static_cast<std::uint16_t>(any_number());
    if (one_in(4)) end.recv_queue_size = static_cast<std::uint16_t>(any_number());
    end.mtu = static_cast<std::uint8_t>(IBV_MTU_256 + below(5));
    return end;
  }
  // Asks for a way to the consumer, rightly, mostly.
  void pair() {
    HandshakeMessage message = envelope_;
    message.type = one_in(5) ? Type::kUnpair : Type::kPair;
    message.end = hostile_.half(kFastPath);
    message.end.data_qpn = one_in(6) ? below(0x1000000) : hostile_.bulk_qpn();
    message.producer = one_in(4) ? any_number() : 1;
    message.consumer = one_in(8) ? any_number() : consumer;
    hostile_.send(message);
  }
  // What the honest end asks it; it answers some, and wrongly.
  void answer() {
    while (const std::optional<HandshakeMessage> asked = hostile_.receive()) {
      if (asked->type == Type::kPaired && !paired) {
        hostile_.establish_bulk(asked->end);
        paired = true;
      } else if (asked->type == Type::kPair && !one_in(3)) {
        HandshakeMessage message = envelope_;
        message.type = one_in(4) ? Type::kUnpaired : Type::kPaired;
        message.end = random_half();
        message.producer = one_in(6) ? any_number() : asked->producer;
        message.consumer = one_in(6) ? any_number() : asked->consumer;
        message.limit = any_number();
        hostile_.send(message);
      }
    }
  }
  void bulk() {
    if (!paired) return pair();
    if (one_in(6)) return hostile_.bulk(bytes(2000), opcode());
    comch::FastHeader header{};
    const std::string text = bytes(one_in(4) ? 2000 : kBuffer);
    header.producer = one_in(4) ? any_number() : 1;
    header.immediate_length = one_in(3) ? any_number() : below(33);
    header.length = one_in(4) ? any_number() : static_cast<std::uint32_t>(text.size());
    header.reserved = any_number();
    std::string frame(sizeof header, '\0');
    std::memcpy(frame.data(), &header, sizeof header);
    hostile_.bulk(frame + text, opcode());
  }

  Hostile& hostile_;
  std::mt19937& random_;
  const HandshakeMessage envelope_;
};

// The honest end of the fast path, on that connection. Its program sends, receives, and reads what it received.
struct Paths {
  Paths(ComchEngine& engine, doca_comch_connection* connection, Memory& memory)
      : consumer(engine, connection, memory, 4), producer(engine, connection, 8), into(memory) {
    consumer.seen.repost = true;
    // The other end may break the connection at any time.
    for (doca_ctx* ctx : {consumer.ctx, producer.ctx}) {
      const doca_error_t error = doca_ctx_start(ctx);
      CHECK((error == DOCA_SUCCESS || error == DOCA_ERROR_NOT_CONNECTED));
    }
    for (std::size_t i = 0; i < 4; ++i) {
      doca_buf* buf = into.space(i * kBuffer, kBuffer);
      const doca_error_t error = consumer.post(i == 0 ? nullptr : buf);
      if (error != DOCA_SUCCESS || i == 0) drop(buf);
      if (error != DOCA_SUCCESS) return;
    }
  }
  void send(std::uint32_t to) {
    doca_buf* buf = into.data(8 * kBuffer, "honest");
    if (producer.send(buf, to, "tag") != DOCA_SUCCESS) drop(buf);
  }
  void check() {
    for (const Received& received : consumer.seen.received) {
      CHECK(received.immediate.size() <= 32);
      CHECK(received.data.size() <= kBuffer);
    }
    consumer.seen.received.clear();
  }
  FastConsumer consumer;
  FastProducer producer;
  Memory& into;
};

// Whether the connection has the fast path, and is there still: a hostile end may say and do anything.
bool has_fast_path(doca_comch_connection* connection) {
  doca_comch_producer* probe = nullptr;
  if (doca_comch_producer_create(connection, &probe) != DOCA_SUCCESS) return false;
  CHECK(doca_comch_producer_destroy(probe) == DOCA_SUCCESS);
  return true;
}

// As many sequences as wanted, each with its own numbers.
template <typename Sequence>
void each_seed(Sequence&& sequence) {
  const unsigned only = setting("VERBS_COMCH_SEED", 0);
  const unsigned last = only ? only : kFew * setting("VERBS_STRESS_ROUNDS", 1);
  for (unsigned seed = only ? only : 1; seed <= last; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    sequence(random, seed);
  }
}

void attack(Attack& by, std::mt19937& random, ComchEngine& engine, Paths* paths) {
  if (paths) by.consumer = paths->consumer.id;
  for (int i = 0; i < 12; ++i) {
    by.act();
    if (paths && random() % 3 == 0) paths->send(static_cast<std::uint32_t>(1 + random() % 70));
    for (std::size_t turns = random() % 8; turns > 0; --turns) doca_pe_progress(engine.pe);
    if (paths) paths->check();
  }
}

}  // namespace

TEST_CASE("a hostile client of Comch, at random: the server survives, and serves others") {
  ComchStage stage;
  each_seed([&](std::mt19937& random, unsigned) {
    Memory memory(stage.devices.dpu, 16 * kBuffer, 8);
    Hostile hostile;
    HandshakeMessage request = hostile.request("comch-stage");
    request.end.features = random() % 8 == 0 ? 0 : kFastPath;
    std::optional<HandshakeMessage> response;
    // Those before it may still have all places.
    until([&] {
      hostile.send(request);
      while ((response = hostile.receive(request.client_id)) && response->type == Type::kPending) stage.turn(4);
      REQUIRE(response);
      return response->type == Type::kAccept;
    });
    hostile.establish(response->end);
    doca_comch_connection* connection = stage.server.seen.connected.back();
    {
      std::optional<Paths> paths;
      if (has_fast_path(connection)) paths.emplace(stage.engine, connection, memory);
      Attack by(hostile, random, request);
      attack(by, random, stage.engine, paths ? &*paths : nullptr);
    }
    stage.turn(20);
    // So that the server need not wait for its acknowledgements; it may have connected with another number, too.
    request.type = Type::kDismissed;
    for (const std::uint64_t client_id : {request.client_id, request.client_id ^ 1}) {
      request.client_id = client_id;
      hostile.send(request);
    }
    auto& connected = stage.server.seen.connected;
    auto& ended = stage.server.seen.disconnected;
    for (std::size_t i = 1; i < connected.size(); ++i) {
      if (std::count(ended.begin(), ended.end(), connected[i]) > 0) continue;
      CHECK(doca_comch_server_disconnect(stage.server.server, connected[i]) == DOCA_SUCCESS);
    }
    ended.clear();
    connected.resize(1);
    stage.serves();
  });
}

TEST_CASE("a hostile server of Comch, at random: the client survives, ends, and starts again") {
  Devices devices;
  ComchEngine engine;
  each_seed([&](std::mt19937& random, unsigned seed) {
    const std::string name = "hostile-" + std::to_string(seed);
    Memory memory(devices.host, 16 * kBuffer, 8);
    Hostile hostile("doca_dpu0");
    hostile.serve(name, devices.dpu->gid, devices.host->gid);
    ComchClient client(engine, devices, name.c_str());
    REQUIRE(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
    std::optional<HandshakeMessage> request;
    until([&] { return (request = hostile.receive()) && request->type == Type::kConnect; });
    HandshakeMessage envelope = request->answer(Type::kAccept);
    envelope.end = hostile.half(kFastPath);
    hostile.establish(request->end);
    if (random() % 6 == 0) {  // hostile before the connection is there
      Attack early(hostile, random, envelope);
      attack(early, random, engine, nullptr);
      // What they have done to the connection shows itself soon.
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    hostile.send(envelope);
    engine.run_until([&] { return state_of(client.ctx) != DOCA_CTX_STATE_STARTING; });
    for (int i = 0; i < 20; ++i) doca_pe_progress(engine.pe);
    if (state_of(client.ctx) == DOCA_CTX_STATE_RUNNING) {
      std::optional<Paths> paths;
      if (has_fast_path(client.connection())) paths.emplace(engine, client.connection(), memory);
      Attack by(hostile, random, envelope);
      attack(by, random, engine, paths ? &*paths : nullptr);
    }
    envelope.type = Type::kGone;
    until([&] {
      if (state_of(client.ctx) != DOCA_CTX_STATE_IDLE) doca_ctx_stop(client.ctx);
      hostile.send(envelope);
      doca_pe_progress(engine.pe);
      return state_of(client.ctx) == DOCA_CTX_STATE_IDLE;
    });
  });
}

TEST_CASE("a server of Comch that dies: its client may call everything from inside the callback of STOPPING") {
  Devices devices;
  ComchEngine engine;
  auto hostile = std::make_unique<Hostile>("doca_dpu0");
  hostile->serve("dies", devices.dpu->gid, devices.host->gid);
  ComchClient client(engine, devices, "dies");
  REQUIRE(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
  std::optional<HandshakeMessage> request;
  until([&] { return (request = hostile->receive()) && request->type == Type::kConnect; });
  HandshakeMessage accept = request->answer(Type::kAccept);
  accept.end = hostile->half(kFastPath);
  hostile->establish(request->end);
  hostile->send(accept);
  engine.run_until([&] { return state_of(client.ctx) == DOCA_CTX_STATE_RUNNING; });
  doca_comch_connection* connection = client.connection();
  REQUIRE(client.send("on its way") == DOCA_SUCCESS);
  client.seen.on_state = [&](doca_ctx_states next) {
    std::uint64_t value = 0;
    const bool there = next == DOCA_CTX_STATE_STOPPING;
    CHECK(doca_comch_connection_update_info(connection) ==
          (there ? DOCA_ERROR_CONNECTION_ABORTED : DOCA_ERROR_INVALID_VALUE));
    CHECK(doca_comch_connection_get_counter(connection, DOCA_COMCH_COUNTER_SENT_MESSAGES, &value) ==
          (there ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE));
    CHECK(doca_comch_client_get_connection(client.client, &connection) == DOCA_ERROR_BAD_STATE);
  };
  hostile.reset();
  const auto since = std::chrono::steady_clock::now();
  engine.run_until([&] { return state_of(client.ctx) == DOCA_CTX_STATE_IDLE; });
  CHECK(client.seen.failed == 1);
  CHECK(client.seen.status == DOCA_ERROR_CONNECTION_RESET);
  CHECK(std::chrono::steady_clock::now() - since < std::chrono::seconds(3));
}
