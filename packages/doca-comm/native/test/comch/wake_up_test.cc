// The notification of a progress engine: it is readable when there is something to do, and only when it was armed.
#include <atomic>

#include "test/support/comch.h"

using namespace verbs::doca_comm::model::test;

namespace {

// The loop that programs use. Fails if nothing wakes it for 20 seconds.
template <typename Done>
void wait_until(ComchEngine& engine, Done&& done) {
  while (!done()) {
    if (doca_pe_progress(engine.pe)) continue;
    REQUIRE(doca_pe_request_notification(engine.pe) == DOCA_SUCCESS);
    if (!doca_pe_progress(engine.pe)) REQUIRE(engine.readable(20000));
    REQUIRE(doca_pe_clear_notification(engine.pe, engine.fd) == DOCA_SUCCESS);
  }
}

}  // namespace

TEST_CASE("an engine that is not armed is not readable; one that is armed is, for what was there before as well") {
  Devices devices;
  ComchEngine engine, other;
  ComchServer server(engine, devices, "armed");
  ComchClient client(other, devices, "armed");
  CHECK_FALSE(engine.readable());
  REQUIRE(doca_ctx_start(server.ctx) == DOCA_SUCCESS);
  REQUIRE(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK_FALSE(engine.readable());
  REQUIRE(doca_pe_request_notification(engine.pe) == DOCA_SUCCESS);
  CHECK(engine.readable(1000));  // the client's request
  CHECK(doca_pe_progress(engine.pe) == 1);
  CHECK(server.seen.connected.size() == 1);
  REQUIRE(doca_pe_clear_notification(engine.pe, engine.fd) == DOCA_SUCCESS);
  CHECK_FALSE(engine.readable());
  other.run_until([&] { return state_of(client.ctx) == DOCA_CTX_STATE_RUNNING; });
  const std::string text = "text";
  REQUIRE(client.send(text) == DOCA_SUCCESS);
  REQUIRE(doca_pe_request_notification(engine.pe) == DOCA_SUCCESS);
  CHECK(engine.readable(1000));
  engine.run_until([&] { return server.seen.messages.size() == 1; });
}

TEST_CASE("two ends that sleep between all steps: no wake-up is lost, whatever comes between progress and arming") {
  std::atomic<bool> listening{false};
  constexpr std::size_t kRounds = 3000;
  Devices devices;
  std::thread service([&] {
    ComchEngine engine;
    ComchServer server(engine, devices, "rounds");
    server.seen.on_message = [&](doca_comch_connection* from, const std::string&) {
      static const std::string kAnswer = "answer";
      CHECK(server.send(from, kAnswer) == DOCA_SUCCESS);
    };
    REQUIRE(doca_ctx_start(server.ctx) == DOCA_SUCCESS);
    listening = true;
    wait_until(engine, [&] { return server.seen.disconnected.size() == 1; });
    CHECK(server.seen.messages.size() == kRounds);
  });
  until([&] { return listening.load(); });
  ComchEngine engine;
  ComchClient client(engine, devices, "rounds");
  REQUIRE(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
  wait_until(engine, [&] { return state_of(client.ctx) == DOCA_CTX_STATE_RUNNING; });
  const std::string text = "question";
  for (std::size_t i = 1; i <= kRounds; ++i) {
    REQUIRE(client.send(text) == DOCA_SUCCESS);
    wait_until(engine,
               [&] { return client.seen.messages.size() == i && client.seen.completed == static_cast<int>(i); });
  }
  doca_ctx_stop(client.ctx);
  wait_until(engine, [&] { return state_of(client.ctx) == DOCA_CTX_STATE_IDLE; });
  service.join();
}
