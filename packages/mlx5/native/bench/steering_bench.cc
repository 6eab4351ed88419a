// Measures frames per second of one core through a table with one rule, and a plain copy of the same frames.
//
//   steering_bench [--json] [--seconds S]     S: processor time of each measurement, in seconds (default 0.3)
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "steering/headers/bytes.h"
#include "steering/pipeline/pipeline.h"

using namespace verbs::mlx5::steering;

namespace {

constexpr std::uint32_t kHeadroom = 128;
// Frames in turn, each in a buffer of its own, as in a queue of buffers.
constexpr std::uint32_t kFrames = 64;

std::vector<std::uint8_t> inner_frame(std::uint32_t size, std::uint32_t number) {
  std::vector<std::uint8_t> frame(size, 'a');
  const std::uint8_t headers[] = {0x02, 0,  0,  0, 0, 2,  0x02, 0, 0, 0,  0, 1, 8, 0,    0x45, 0,    0,    0, 0, 0, 0,
                                  0,    64, 17, 0, 0, 10, 0,    0, 1, 10, 0, 0, 2, 0x04, 0xd2, 0x16, 0x2e, 0, 0, 0, 0};
  std::copy(std::begin(headers), std::end(headers), frame.begin());
  store16(frame.data() + 16, size - 14);
  store16(frame.data() + 34, 1024 + number);
  store16(frame.data() + 38, size - 34);
  store16(frame.data() + 40, 0xbeef);  // any nonzero checksum
  return frame;
}

const std::vector<std::uint8_t> kVxlan = {0x02, 0, 0,    0,    0, 4,  0x02, 0, 0,    0, 0, 3, 8, 0, 0x45, 0, 0,
                                          0,    0, 0,    0x40, 0, 64, 17,   0, 0,    1, 1, 1, 1, 2, 2,    2, 2,
                                          0,    0, 0x12, 0xb5, 0, 0,  0,    0, 0x08, 0, 0, 0, 0, 0, 42,   0};

class Ring {
 public:
  explicit Ring(std::uint32_t size)
      : size_(size), stride_((kHeadroom + size + 63) / 64 * 64), memory_(kFrames * stride_) {}
  Frame frame(std::uint32_t number) {
    return {memory_.data() + std::size_t{number % kFrames} * stride_ + kHeadroom, size_, kHeadroom, 0};
  }

 private:
  std::uint32_t size_;
  std::size_t stride_;
  std::vector<std::uint8_t> memory_;
};

class Count : public Sink {
 public:
  void to_receiver(void*, const Packet& packet) override { add(packet); }
  void to_wire(const Packet& packet) override { add(packet); }
  void to_vport(std::uint32_t, const Packet& packet) override { add(packet); }
  void dropped(DropReason, const Packet&) override { std::abort(); }
  std::uint64_t bytes = 0;

 private:
  void add(const Packet& packet) { bytes += packet.frame().size; }
};

// The processor time of this thread: other programs use the machine too.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Runs blocks of frames and returns the frames per second of processor time, the best of three measurements.
double measure(double seconds, const std::function<void(std::uint32_t)>& run_block) {
  constexpr std::uint32_t kBlock = 4096;
  double best = 0;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const double begin = processor_seconds();
    std::uint64_t done = 0;
    double passed = 0;
    while (passed < seconds / 3) {
      run_block(kBlock);
      done += kBlock;
      passed = processor_seconds() - begin;
    }
    best = std::max(best, static_cast<double>(done) / passed);
  }
  return best;
}

std::shared_ptr<const Reformat> reformat(ReformatType type, const std::vector<std::uint8_t>& data) {
  ReformatProblem problem{};
  auto created = Reformat::create(type, data, {}, &problem);
  if (created == nullptr) std::abort();
  return created;
}

// A rule on the outer destination address and UDP port.
Matcher& add_matcher(FlowTable& table, std::vector<std::uint8_t>* value, std::uint32_t address, std::uint16_t port) {
  std::vector<std::uint8_t> mask(64);
  value->assign(64, 0);
  store32(mask.data() + header::kDestinationIp + 12, 0xffffffff);
  store32(value->data() + header::kDestinationIp + 12, address);
  store16(mask.data() + header::kUdpDport, 0xffff);
  store16(value->data() + header::kUdpDport, port);
  return table.add_matcher(0, mask);
}

struct Result {
  std::uint32_t size;
  double copy, encapsulated, decapsulated, unmatched;
};

double through(FlowTable& table, Domain domain, Ring& ring, double seconds) {
  Pipeline pipeline;
  Count sink;
  return measure(seconds, [&](std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      Packet packet(ring.frame(i));
      pipeline.run(&table, domain, packet, sink);
    }
  });
}

Result measure_size(std::uint32_t size, double seconds) {
  Result result{size, 0, 0, 0, 0};
  Ring plain(size), target(size), tunnelled(size + static_cast<std::uint32_t>(kVxlan.size()));
  for (std::uint32_t i = 0; i < kFrames; ++i) {
    const auto frame = inner_frame(size, i);
    std::memcpy(plain.frame(i).data, frame.data(), size);
  }
  result.copy = measure(seconds, [&](std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      std::memcpy(target.frame(i).data, plain.frame(i).data, size);
      asm volatile("" ::: "memory");  // keeps the compiler from removing the copy
    }
  });

  std::vector<std::uint8_t> value;
  FlowTable encap;
  Matcher& transmit = add_matcher(encap, &value, 0x0a000002, 5678);
  transmit.add(value, ActionList({ReformatAction{reformat(ReformatType::kL2ToL2Tunnel, kVxlan)}}));
  result.encapsulated = through(encap, Domain::kNicTx, plain, seconds);

  for (std::uint32_t i = 0; i < kFrames; ++i) {
    Packet packet(plain.frame(i));
    reformat(ReformatType::kL2ToL2Tunnel, kVxlan)->apply(packet);
    std::memcpy(tunnelled.frame(i).data, packet.frame().data, packet.frame().size);
  }
  FlowTable decap;
  Matcher& receive = add_matcher(decap, &value, 0x02020202, 4789);
  receive.add(value,
              ActionList({ReformatAction{reformat(ReformatType::kL2TunnelToL2, {})}, Destination{ToReceiver{&decap}}}));
  result.decapsulated = through(decap, Domain::kNicRx, tunnelled, seconds);

  FlowTable other;
  add_matcher(other, &value, 0x0a000003, 5678).add(value, ActionList({Destination{Drop{}}}));
  result.unmatched = through(other, Domain::kNicTx, plain, seconds);
  return result;
}

void print_table(const std::vector<Result>& results) {
  std::printf("%6s %14s %14s %14s %14s\n", "bytes", "copy/s", "vxlan encap/s", "vxlan decap/s", "no rule/s");
  for (const Result& r : results) {
    std::printf("%6u %14.0f %14.0f %14.0f %14.0f\n", r.size, r.copy, r.encapsulated, r.decapsulated, r.unmatched);
  }
}

void print_json(const std::vector<Result>& results) {
  const char* separator = "[";
  for (const Result& r : results) {
    std::printf("%s{\"bytes\":%u,\"copy\":%.0f,\"encap\":%.0f,\"decap\":%.0f,\"miss\":%.0f}", separator, r.size, r.copy,
                r.encapsulated, r.decapsulated, r.unmatched);
    separator = ",";
  }
  std::printf("]\n");
}

}  // namespace

int main(int count, char** arguments) {
  bool json = false;
  double seconds = 0.3;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--json") {
      json = true;
    } else if (argument == "--seconds" && i + 1 < count && std::atof(arguments[i + 1]) > 0) {
      seconds = std::atof(arguments[++i]);
    } else {
      std::fprintf(stderr, "steering_bench: unknown argument '%s'\nUsage: steering_bench [--json] [--seconds S]\n",
                   argument.c_str());
      return 2;
    }
  }
  const std::vector<Result> results = {measure_size(64, seconds), measure_size(1500, seconds)};
  json ? print_json(results) : print_table(results);
  return 0;
}
