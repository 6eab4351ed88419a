// A ring between two processes, in memory that either of them may scribble over. Without scribbles every frame arrives,
// once and in order. With them each end reads and writes its own memory only, hands on no frame that could not be one,
// and once it has found the ring broken it stays so.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "fuzz/check.h"
#include "fuzz/input.h"
#include "link/shm/ring.h"

using namespace verbs::soft;
using namespace verbs::soft::fuzz;

namespace {

using link::FrameForm;
using link::RingReader;
using link::RingRecord;

constexpr int kMostSteps = 512;
constexpr std::size_t kRecordHead = 8;

// The bytes of all frames: those of one begin at its seed.
const std::uint8_t* bytes_from(std::uint8_t seed) {
  static const auto row = [] {
    std::array<std::uint8_t, 256 + wire::kMaxFrame + 1> bytes;
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    return bytes;
  }();
  return row.data() + seed;
}

struct Frame {
  std::size_t size;
  FrameForm form;
  std::uint32_t epoch;
  std::uint8_t seed;

  std::span<const std::uint8_t> bytes() const { return {bytes_from(seed), size}; }
  bool is_at(const std::uint8_t* place) const { return std::memcmp(place, bytes_from(seed), size) == 0; }
};

// The shared pages, kept over the executions; only what one has used is cleared for the next.
class Memory {
 public:
  std::uint8_t* clean() {
    std::memset(bytes_.get(), 0, link::kRingOffset);
    for (const auto& [begin, end] : used_) std::memset(bytes_.get() + link::kRingOffset + begin, 0, end - begin);
    used_.clear();
    return bytes_.get();
  }
  void use(std::size_t begin, std::size_t end) {
    end = std::min(end, link::kRingCapacity);
    if (!used_.empty() && used_.back().second >= begin && used_.back().first <= begin) {
      used_.back().second = std::max(used_.back().second, end);
    } else {
      used_.emplace_back(begin, end);
    }
  }

 private:
  struct Free {
    void operator()(std::uint8_t* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<std::uint8_t, Free> bytes_{
      static_cast<std::uint8_t*>(std::aligned_alloc(4096, (link::kRingMemory + 4095) / 4096 * 4096))};
  std::vector<std::pair<std::size_t, std::size_t>> used_{{0, link::kRingCapacity}};
};

class World {
 public:
  World(Memory* memory, std::uint8_t* room)
      : memory_(memory), shared_(memory->clean()), room_(room), writer_(shared_), reader_(shared_) {}

  // Both ends come to the last bytes before the end of the ring.
  void approach_end(std::size_t left) {
    while (link::kRingCapacity - head_ > left + wire::kMaxFrame + 2 * kRecordHead) {
      write({.size = wire::kMaxFrame, .form = FrameForm::kSealed, .epoch = 0, .seed = 0});
      publish();
      read();
    }
    reader_.release();
    unreleased_ = 0;
  }

  void step(Input* input) {
    switch (input->below(12)) {
      case 0:
      case 1:
      case 2:
        return write(take_frame(input));
      case 3:
        return publish();
      case 4:
      case 5:
        return read();
      case 6:
        return release();
      case 7:
        return offer(input);
      case 8:
        return sleep(input);
      case 9:
        return scribble_records(input);
      case 10:
        return scribble_header(input);
      default:
        return look();
    }
  }

 private:
  static Frame take_frame(Input* input) {
    const std::size_t size = input->one_in(4) ? input->take<std::uint16_t>() % (wire::kMaxFrame + 2) : input->byte();
    return {
        .size = size, .form = static_cast<FrameForm>(input->below(4)), .epoch = input->byte(), .seed = input->byte()};
  }

  void write(const Frame& frame) {
    const std::size_t record = (kRecordHead + frame.size + 7) / 8 * 8;
    const bool written = writer_.write(frame.bytes(), frame.form, frame.epoch);
    if (frame.size == 0 || frame.size > wire::kMaxFrame) FUZZ_CHECK(!written);
    if (!written) {
      // Half of the ring is more than the end and the longest frame take.
      const bool fits = frame.size != 0 && frame.size <= wire::kMaxFrame && unreleased_ < link::kRingCapacity / 2;
      if (honest_) FUZZ_CHECK(!fits);
      return;
    }
    const std::size_t rest = link::kRingCapacity - head_;
    const std::size_t skipped = record <= rest ? 0 : rest;
    unreleased_ += skipped + record;
    memory_->use(head_, head_ + (skipped != 0 ? kRecordHead : record + kRecordHead));
    if (skipped != 0) memory_->use(0, record + kRecordHead);
    head_ = (head_ + skipped + record) % link::kRingCapacity;
    hidden_.push_back(frame);
  }

  void publish() {
    FUZZ_CHECK(writer_.has_unpublished() == !hidden_.empty());
    writer_.publish();
    visible_.insert(visible_.end(), hidden_.begin(), hidden_.end());
    hidden_.clear();
  }

  void read() {
    if (honest_) FUZZ_CHECK(reader_.has_frame() == !visible_.empty());
    RingRecord record;
    const RingReader::Next next = reader_.read(room_, &record);
    if (broken_) FUZZ_CHECK(next == RingReader::Next::kBroken);
    broken_ = next == RingReader::Next::kBroken;
    if (next == RingReader::Next::kFrame) {
      FUZZ_CHECK(record.size > 0 && record.size <= wire::kMaxFrame && record.form <= FrameForm::kMessage);
      FUZZ_CHECK(record.bytes == room_ || is_in_ring(record));
    }
    if (!honest_) return;
    FUZZ_CHECK(next == (visible_.empty() ? RingReader::Next::kNone : RingReader::Next::kFrame));
    if (visible_.empty()) return;
    const Frame& expected = visible_.front();
    FUZZ_CHECK(record.size == expected.size && record.form == expected.form && record.epoch == expected.epoch);
    FUZZ_CHECK(expected.is_at(record.bytes));
    visible_.pop_front();
  }

  // A message stays there until it is released.
  bool is_in_ring(const RingRecord& record) const {
    const std::uint8_t* records = shared_ + link::kRingOffset;
    return record.form == FrameForm::kMessage && record.bytes >= records &&
           record.bytes + record.size <= records + link::kRingCapacity;
  }

  void release() {
    reader_.release();
    if (visible_.empty() && hidden_.empty()) unreleased_ = 0;
  }

  void offer(Input* input) {
    link::OfferedMemory::List offers{}, seen{};
    for (std::size_t i = input->below(3); i > 0; --i) {
      offers[input->below(offers.size())] = {.address = input->take<std::uint64_t>(),
                                             .size = input->take<std::uint64_t>(),
                                             .offset = input->byte(),
                                             .fd = input->byte(),
                                             .id = input->byte()};
    }
    writer_.set_offers(offers);
    std::uint32_t version = 0;
    const bool stays = reader_.read_offers(&seen, &version);
    FUZZ_CHECK(stays && version == reader_.offers_version() && seen == offers);
  }

  void sleep(Input* input) {
    const std::uint32_t bell = input->byte();
    reader_.want(bell);
    if (writer_.wake()) FUZZ_CHECK(bell % 2 == 1 && !writer_.wake());
    if (input->one_in(2)) writer_.ask_for_room();
    if (input->one_in(2)) writer_.need_no_room();
  }

  void scribble_records(Input* input) {
    const std::size_t length = input->below(32);
    const std::size_t far = input->one_in(4) ? input->take<std::uint32_t>() : head_ + input->below(64);
    const std::size_t at = far % (link::kRingCapacity - length);
    scribble(link::kRingOffset + at, length, input);
    memory_->use(at, at + length);
  }

  void scribble_header(Input* input) {
    const std::size_t length = input->one_in(2) ? 8 : 4;
    scribble(input->take<std::uint16_t>() % (sizeof(link::RingHeader) / 8) * 8, length, input);
  }

  void scribble(std::size_t at, std::size_t length, Input* input) {
    const auto bytes = input->bytes(length);
    if (bytes.empty()) return;
    std::memcpy(shared_ + at, bytes.data(), bytes.size());
    honest_ = false;
  }

  void look() {
    const bool was_broken = writer_.is_broken();
    writer_.was_read();
    writer_.is_closed();
    writer_.reader_pulls();
    if (was_broken) FUZZ_CHECK(writer_.is_broken());
    if (honest_) FUZZ_CHECK(!writer_.is_broken());
    reader_.has_much_to_release();
    reader_.epoch();
  }

  Memory* memory_;
  std::uint8_t* shared_;
  std::uint8_t* room_;
  link::RingWriter writer_;
  RingReader reader_;
  std::deque<Frame> hidden_, visible_;
  std::size_t head_ = 0;        // the writer's place
  std::size_t unreleased_ = 0;  // bytes of records, at most
  bool honest_ = true;
  bool broken_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Memory memory;
  static const auto room = std::make_unique<std::uint8_t[]>(wire::kMaxFrame);
  Input input(data, size);
  World world(&memory, room.get());
  if (input.one_in(16)) world.approach_end(input.take<std::uint16_t>() % wire::kMaxFrame);
  for (int i = 0; i < kMostSteps && !input.empty(); ++i) world.step(&input);
  return 0;
}
