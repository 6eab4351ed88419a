// A flow meter: a colour for each packet by two token buckets (RFC 2697, 2698 and 4115). It only colours; rules that
// match the register drop.
#pragma once

#include <cstdint>
#include <span>

namespace verbs::mlx5::steering {

class Packet;

// As the hardware writes them into the low 8 bits of the register.
enum class Colour : std::uint8_t { kRed = 0, kYellow = 1, kGreen = 2, kUndefined = 3 };

struct MeterConfig {
  // The PRM's meter_mode: bytes from the IP header on, of the frame, of the frame with its preamble, FCS and gap (24
  // more), or packets.
  enum class Unit : std::uint8_t { kIpBytes = 0, kFrameBytes = 1, kWireBytes = 2, kPackets = 3 };
  bool valid = true;  // false: the meter is off and every packet green
  Unit unit = Unit::kIpBytes;
  // Whether the excess bucket is filled by what overflows from the committed one (RFC 2697) instead of by its own rate.
  bool bucket_overflow = false;
  // Whether green needs and takes from both buckets (RFC 2698).
  bool both_buckets_on_green = false;
  Colour start_colour = Colour::kUndefined;  // undefined: colour blind
  std::uint64_t committed_rate = 0;          // bytes or packets a second
  // Bytes or packets. A committed burst of 0 beside a rate is taken as a millisecond's worth of it (at least 1):
  // programs leave it out.
  std::uint64_t committed_burst = 0;
  std::uint64_t excess_rate = 0;
  std::uint64_t excess_burst = 0;

  // Of the PRM's flow_meter_parameters: 32 bytes; fewer are read as if zeros followed. A rate is mantissa * 10^9 /
  // 2^exponent, a burst mantissa * 2^exponent.
  static MeterConfig decode(std::span<const std::uint8_t> parameters);
};

class Meter {
 public:
  explicit Meter(const MeterConfig& config) { configure(config); }
  // New parameters; both buckets are full again.
  void configure(const MeterConfig& config);
  const MeterConfig& config() const { return config_; }
  Colour colour(const Packet& packet);

 private:
  void fill(std::uint64_t now_ns);
  std::uint64_t cost(const Packet& packet) const;

  MeterConfig config_;
  // Tokens in units of 10^-9, so that no rate loses anything to rounding.
  unsigned __int128 committed_ = 0;
  unsigned __int128 excess_ = 0;
  std::uint64_t filled_at_ns_ = 0;
  bool started_ = false;
};

}  // namespace verbs::mlx5::steering
