#include "link/shm/ring.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <new>
#include <random>
#include <thread>
#include <vector>

using namespace verbs::soft::link;
namespace wire = verbs::soft::wire;

namespace {

class Memory {
 public:
  Memory() : bytes_(static_cast<std::uint8_t*>(::operator new(kRingMemory, std::align_val_t{4096}))) {
    std::memset(bytes_, 0, kRingMemory);
  }
  ~Memory() { ::operator delete(bytes_, std::align_val_t{4096}); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  std::uint8_t* data() const { return bytes_; }
  RingHeader& header() const { return *reinterpret_cast<RingHeader*>(bytes_); }
  std::uint8_t* records() const { return bytes_ + kRingOffset; }

 private:
  std::uint8_t* bytes_;
};

using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of(std::uint32_t number, std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(number * 31 + i);
  return bytes;
}

struct Ring {
  Memory memory;
  RingWriter writer{memory.data()};
  RingReader reader{memory.data()};
  std::uint8_t room[wire::kMaxFrame];
  RingRecord record;  // that was read last

  RingReader::Next read(Bytes* bytes) {
    const RingReader::Next next = reader.read(room, &record);
    if (next == RingReader::Next::kFrame) bytes->assign(room, room + record.size);
    return next;
  }
};

using Next = RingReader::Next;

}  // namespace

TEST_CASE_FIXTURE(Ring, "frames of all sizes pass whole and in order, around the ring many times") {
  std::mt19937 random(7);
  std::deque<Bytes> sent;
  std::size_t received = 0;
  for (std::uint32_t number = 0; number < 20'000; ++number) {
    const std::size_t size = 1 + random() % wire::kMaxFrame;
    Bytes frame = bytes_of(number, size);
    while (!writer.write(frame)) {
      writer.publish();
      Bytes got;
      for (unsigned i = 1 + random() % 100; i > 0 && read(&got) == Next::kFrame; --i, ++received) {
        REQUIRE(got == sent.front());
        sent.pop_front();
      }
      reader.release();
    }
    sent.push_back(std::move(frame));
  }
  writer.publish();
  Bytes got;
  while (read(&got) == Next::kFrame) {
    REQUIRE(got == sent.front());
    sent.pop_front();
    ++received;
  }
  CHECK(received == 20'000);
  CHECK(sent.empty());
  CHECK_FALSE(writer.is_broken());
}

TEST_CASE_FIXTURE(Ring, "a frame is visible when it is published") {
  Bytes got;
  CHECK(writer.write(bytes_of(1, 64)));
  CHECK(read(&got) == Next::kNone);
  CHECK_FALSE(writer.publish());  // nobody asked for a bell
  CHECK(read(&got) == Next::kFrame);
  CHECK(read(&got) == Next::kNone);
}

TEST_CASE_FIXTURE(Ring, "frames without a byte, and too long ones, are not written") {
  CHECK_FALSE(writer.write({}));
  CHECK_FALSE(writer.write(Bytes(wire::kMaxFrame + 1)));
  CHECK_FALSE(writer.has_unpublished());
}

TEST_CASE_FIXTURE(Ring, "the writer rings once for each number that the reader asks for") {
  const auto rings = [&] { return writer.write(bytes_of(1, 64)) && writer.publish(); };
  CHECK_FALSE(rings());
  reader.want(3);
  CHECK(rings());
  CHECK_FALSE(rings());
  CHECK_FALSE(writer.publish());  // nothing new
  reader.want(5);
  CHECK(rings());
  reader.want(6);  // awake
  CHECK_FALSE(rings());
}

TEST_CASE_FIXTURE(Ring, "a writer without room is rung for when half of the ring is free") {
  const Bytes frame = bytes_of(1, 4096);
  std::size_t count = 0;
  while (writer.write(frame)) ++count;
  CHECK(count == kRingCapacity / (4096 + 8));
  writer.publish();
  Bytes got;
  CHECK(read(&got) == Next::kFrame);
  CHECK_FALSE(reader.release());
  writer.ask_for_room();
  CHECK(read(&got) == Next::kFrame);
  CHECK_FALSE(reader.release());  // not for so little
  while (read(&got) == Next::kFrame) {
  }
  CHECK(reader.release());
  CHECK(writer.write(frame));
  writer.publish();
  CHECK(read(&got) == Next::kFrame);
  CHECK_FALSE(reader.release());  // it did not ask again
}

TEST_CASE_FIXTURE(Ring, "a reader has much to release after many bytes, not after each frame") {
  const Bytes frame = bytes_of(1, 4096);
  for (int i = 0; i < 16; ++i) REQUIRE(writer.write(frame));
  writer.publish();
  Bytes got;
  int count = 0;
  for (; !reader.has_much_to_release(); ++count) REQUIRE(read(&got) == Next::kFrame);
  CHECK(count > 1);
  reader.release();
  CHECK_FALSE(reader.has_much_to_release());
}

TEST_CASE_FIXTURE(Ring, "the reader believes no size that no writer writes") {
  const auto starts = [&](std::uint32_t word) {
    RingReader fresh(memory.data());
    std::memcpy(memory.records(), &word, sizeof word);
    return fresh.read(room, &record);
  };
  constexpr std::uint32_t kRest = 1u << 29;
  CHECK(starts(3u << 30) == Next::kBroken);  // no size, of any form
  CHECK(starts(1u << 30) == Next::kBroken);
  CHECK(starts(wire::kMaxFrame + 1) == Next::kBroken);
  CHECK(starts(UINT32_MAX) == Next::kBroken);
  CHECK(starts(kRest) == Next::kBroken);  // skips a whole ring
  CHECK(starts(kRest | 56) == Next::kBroken);
  CHECK(starts(56) == Next::kFrame);
  CHECK(starts(0) == Next::kNone);
}

TEST_CASE_FIXTURE(Ring, "a record does not reach behind the end of the ring") {
  const Bytes frame = bytes_of(1, 4096);
  Bytes got;
  std::size_t at = 0;
  for (; at + 4096 + 8 <= kRingCapacity; at += 4096 + 8) {
    REQUIRE(writer.write(frame));
    writer.publish();
    REQUIRE(read(&got) == Next::kFrame);
  }
  const std::uint32_t word = 4096;
  std::memcpy(memory.records() + at, &word, sizeof word);
  CHECK(read(&got) == Next::kBroken);
}

TEST_CASE_FIXTURE(Ring, "frames that are published together become visible together") {
  Bytes got;
  for (std::uint32_t number = 0; number < 300; ++number) {
    for (int i = 0; i < 3; ++i) {
      REQUIRE(writer.write(bytes_of(number, 1000)));
      CHECK_FALSE(reader.has_frame());
      CHECK(read(&got) == Next::kNone);
    }
    writer.publish();
    REQUIRE(writer.write(bytes_of(number, 500)));
    for (int i = 0; i < 3; ++i) {
      CHECK(reader.has_frame());
      REQUIRE(read(&got) == Next::kFrame);
      CHECK(got == bytes_of(number, 1000));
    }
    CHECK_FALSE(reader.has_frame());
    writer.publish();
    REQUIRE(read(&got) == Next::kFrame);
    reader.release();
  }
}

TEST_CASE_FIXTURE(Ring, "each frame keeps its form") {
  Bytes got;
  CHECK(writer.write(bytes_of(1, 60), FrameForm::kUnsealed));
  CHECK(writer.write(bytes_of(2, 60), FrameForm::kSealed));
  CHECK(writer.write(bytes_of(3, 60), FrameForm::kReferring, 77));
  writer.publish();
  REQUIRE(read(&got) == Next::kFrame);
  CHECK(record.form == FrameForm::kUnsealed);
  CHECK(got == bytes_of(1, 60));
  REQUIRE(read(&got) == Next::kFrame);
  CHECK(record.form == FrameForm::kSealed);
  REQUIRE(read(&got) == Next::kFrame);
  CHECK(record.form == FrameForm::kReferring);
  CHECK(record.epoch == 77);
  CHECK(reader.epoch() == 0);
  writer.set_epoch(78);
  CHECK(reader.epoch() == 78);
}

TEST_CASE_FIXTURE(Ring, "the reader stays with its error") {
  Bytes got;
  memory.records()[3] = 0xff;
  CHECK(read(&got) == Next::kBroken);
  memory.records()[3] = 0;
  CHECK(read(&got) == Next::kBroken);
}

TEST_CASE_FIXTURE(Ring, "the writer believes no tail that no reader writes") {
  const Bytes frame = bytes_of(1, 4096);
  while (writer.write(frame)) {
  }
  writer.publish();
  SUBCASE("past the head") { memory.header().tail = kRingCapacity + 8; }
  SUBCASE("far away") { memory.header().tail = ~std::uint64_t{0}; }
  CHECK_FALSE(writer.write(frame));
  CHECK(writer.is_broken());
  CHECK_FALSE(writer.write(bytes_of(1, 1)));
}

TEST_CASE_FIXTURE(Ring, "the writer believes no tail that went back") {
  const Bytes frame = bytes_of(1, 4096);
  Bytes got;
  while (writer.write(frame)) {
  }
  writer.publish();
  for (int i = 0; i < 2; ++i) REQUIRE(read(&got) == Next::kFrame);
  reader.release();
  while (writer.write(frame)) {
  }
  memory.header().tail = 0;
  CHECK_FALSE(writer.write(frame));
  CHECK(writer.is_broken());
}

// Whatever stands in the memory, each end stays in its bounds (the sanitizers see it) and comes to an end.
TEST_CASE_FIXTURE(Ring, "scribbles break a ring and nothing else") {
  std::mt19937 random(11);
  std::uint64_t frames = 0, broken = 0;
  for (int round = 0; round < 300; ++round) {
    std::memset(memory.data(), 0, kRingMemory);
    RingWriter out(memory.data());
    RingReader in(memory.data());
    for (int i = 0; i < 40 && out.write(bytes_of(1, 1 + random() % wire::kMaxFrame)); ++i) {
    }
    out.publish();
    for (unsigned i = random() % 2000; i > 0; --i) {
      const std::uint32_t value = random();
      const bool header = random() % 1000 == 0;
      std::uint8_t* at = header ? memory.data() + random() % sizeof(RingHeader)
                                : memory.records() + random() % (kRingCapacity - sizeof value);
      std::memcpy(at, &value, random() % 2 == 0 ? 1 : sizeof value);
    }
    Next next = Next::kFrame;
    for (int i = 0; i < 10'000 && (next = in.read(room, &record)) == Next::kFrame; ++i) ++frames;
    broken += next == Next::kBroken;
    in.release();
    for (int i = 0; i < 200 && out.write(bytes_of(2, 4096)); ++i) out.publish();
  }
  CHECK(broken > 0);
  CHECK(frames > 0);
}

// The reader sleeps on its bell, the writer on room, both as often as they can. A lost wake-up is a test that does not
// end: the sleeps have no timeout but that of the test.
TEST_CASE_FIXTURE(Ring, "no wake-up is lost between two threads that sleep") {
  constexpr std::uint32_t kFrames = 200'000;
  const int bell = eventfd(0, 0), has_room = eventfd(0, 0);
  const auto ring = [](int fd) {
    const std::uint64_t one = 1;
    REQUIRE(::write(fd, &one, sizeof one) == sizeof one);
  };
  const auto sleep = [](int fd) {
    pollfd entry{fd, POLLIN, 0};
    const bool woken = poll(&entry, 1, 20'000) == 1;
    std::uint64_t value = 0;
    if (woken) REQUIRE(::read(fd, &value, sizeof value) == sizeof value);
    return woken;
  };
  bool writer_woken = true, reader_woken = true;
  std::thread sender([&] {
    std::mt19937 random(3);
    for (std::uint32_t number = 0; number < kFrames && writer_woken;) {
      Bytes frame = bytes_of(number, 8 + random() % 3000);
      std::memcpy(frame.data(), &number, sizeof number);
      if (writer.write(frame)) {
        ++number;
        if (random() % 4 == 0 && writer.publish()) ring(bell);
        continue;
      }
      if (writer.publish()) ring(bell);
      writer.ask_for_room();
      if (writer.write(frame)) {
        writer.need_no_room();
        ++number;
      } else {
        writer_woken = sleep(has_room);
      }
    }
    if (writer.publish()) ring(bell);
  });
  std::uint32_t expected = 0, wrong = 0, wanted = 1;
  Bytes got;
  while (expected < kFrames && reader_woken) {
    Next next = read(&got);
    if (next == Next::kNone) {
      if (reader.release()) ring(has_room);
      reader.want(wanted);
      wanted += 2;
      next = read(&got);
      if (next == Next::kNone) reader_woken = sleep(bell);
    }
    if (next != Next::kFrame) continue;
    std::uint32_t number = 0;
    std::memcpy(&number, got.data(), sizeof number);
    wrong += number != expected++;
    if (expected % 16 == 0 && reader.release()) ring(has_room);
  }
  sender.join();
  CHECK(reader_woken);
  CHECK(writer_woken);
  CHECK(wrong == 0);
  CHECK(expected == kFrames);
  close(bell);
  close(has_room);
}
