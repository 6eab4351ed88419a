// A flow meter: two token buckets give each packet a colour (RFC 2697, 2698 and 4115). A meter only colours packets;
// rules that match the register can drop them.
#pragma once

#include <cstdint>
#include <span>

namespace verbs::mlx5::steering {

class Packet;

// As the hardware writes them to the low 8 bits of the register.
enum class Colour : std::uint8_t { kRed = 0, kYellow = 1, kGreen = 2, kUndefined = 3 };

struct MeterConfig {
  // The PRM's meter_mode. A packet counts its bytes from the IP header on, its frame's bytes, its frame's bytes and 24
  // for preamble, FCS and gap, or one.
  enum class Unit : std::uint8_t { kIpBytes = 0, kFrameBytes = 1, kWireBytes = 2, kPackets = 3 };
  bool valid = true;  // false: the meter is off and every packet green
  Unit unit = Unit::kIpBytes;
  // The overflow of the committed bucket fills the excess bucket (RFC 2697). If false, its own rate fills it.
  bool bucket_overflow = false;
  // A green packet needs and consumes tokens of both buckets (RFC 2698).
  bool both_buckets_on_green = false;
  Colour start_colour = Colour::kUndefined;  // undefined: colour blind
  std::uint64_t committed_rate = 0;          // bytes or packets a second
  // Bytes or packets. With a rate, a committed burst of 0 means one millisecond at that rate, at least 1: programs
  // leave it out.
  std::uint64_t committed_burst = 0;
  std::uint64_t excess_rate = 0;
  std::uint64_t excess_burst = 0;

  // Decodes the PRM's flow_meter_parameters: 32 bytes; missing bytes are zero. A rate is mantissa * 10^9 / 2^exponent,
  // a burst mantissa * 2^exponent.
  static MeterConfig decode(std::span<const std::uint8_t> parameters);
};

class Meter {
 public:
  explicit Meter(const MeterConfig& config) { configure(config); }
  // Sets new parameters and fills both buckets.
  void configure(const MeterConfig& config);
  const MeterConfig& config() const { return config_; }
  Colour colour(const Packet& packet);

 private:
  void fill(std::uint64_t now_ns);
  std::uint64_t cost(const Packet& packet) const;

  MeterConfig config_;
  // Tokens in units of 10^-9, so that rates have no rounding error.
  unsigned __int128 committed_ = 0;
  unsigned __int128 excess_ = 0;
  std::uint64_t filled_at_ns_ = 0;
  bool started_ = false;
};

}  // namespace verbs::mlx5::steering
