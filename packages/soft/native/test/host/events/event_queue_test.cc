#include <doctest/doctest.h>
#include <poll.h>

#include "host/events/async_queue.h"
#include "host/events/completion_channel.h"

using namespace verbs::soft::host;

namespace {

bool readable(const EventSource& source) {
  pollfd entry{source.fd(), POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

}  // namespace

TEST_CASE("completion events come in order, and a queue with N events comes N times") {
  CompletionChannel channel;
  REQUIRE(channel.open() == 0);
  EventTarget a, b;
  channel.push(&a);
  channel.push(&a);
  channel.push(&b);
  CHECK(readable(channel));
  CHECK(channel.pop() == &a);
  CHECK(channel.pop() == &b);
  CHECK(readable(channel));
  CHECK(channel.pop() == &a);
  CHECK_FALSE(readable(channel));
  CHECK(channel.pop() == nullptr);
  CHECK(a.completions_reported == 2);
  CHECK(b.completions_reported == 1);
}

TEST_CASE("a forgotten target leaves nothing behind") {
  CompletionChannel channel;
  REQUIRE(channel.open() == 0);
  EventTarget a, b, c;
  for (EventTarget* target : {&a, &b, &c, &c}) channel.push(target);
  channel.forget(&c);  // the last
  channel.forget(&a);  // the first
  channel.forget(&a);  // not there any more
  CHECK(channel.pop() == &b);
  CHECK(channel.empty());
  channel.push(&a);
  channel.forget(&a);  // the only one
  CHECK_FALSE(readable(channel));
  channel.push(&b);
  CHECK(channel.pop() == &b);
  CHECK(c.completions_reported == 0);
}

TEST_CASE("asynchronous events of a destroyed object are dropped, others stay") {
  AsyncQueue queue;
  REQUIRE(queue.open() == 0);
  EventTarget a, b;
  ibv_async_event event{};
  event.event_type = IBV_EVENT_COMM_EST;
  queue.push(event, &a);
  queue.push(event, &b);
  event.event_type = IBV_EVENT_PORT_ACTIVE;
  queue.push(event, nullptr);
  queue.forget(&a);
  CHECK(readable(queue));
  REQUIRE(queue.pop(&event));
  CHECK(event.event_type == IBV_EVENT_COMM_EST);
  CHECK(b.async_reported == 1);
  REQUIRE(queue.pop(&event));
  CHECK(event.event_type == IBV_EVENT_PORT_ACTIVE);
  CHECK_FALSE(queue.pop(&event));
  CHECK_FALSE(readable(queue));
  CHECK(a.async_reported == 0);
}
