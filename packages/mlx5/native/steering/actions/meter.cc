#include "steering/actions/meter.h"

#include <algorithm>

#include "steering/headers/bytes.h"
#include "steering/packet/packet.h"

namespace verbs::mlx5::steering {

namespace {

using Tokens = unsigned __int128;

constexpr std::uint64_t kBillion = 1'000'000'000;

Tokens in_tokens(std::uint64_t units) { return Tokens{units} * kBillion; }

}  // namespace

MeterConfig MeterConfig::decode(std::span<const std::uint8_t> parameters) {
  std::uint8_t bytes[32] = {};
  std::copy_n(parameters.begin(), std::min<std::size_t>(parameters.size(), sizeof bytes), bytes);
  const auto burst = [&](std::uint32_t at) { return std::uint64_t{bytes[at + 1]} << (bytes[at] & 0x1f); };
  const auto rate = [&](std::uint32_t at) { return bytes[at + 1] * kBillion >> (bytes[at] & 0x1f); };
  MeterConfig config;
  config.valid = (bytes[0] & 0x80) != 0;
  config.bucket_overflow = (bytes[0] & 0x40) != 0;
  config.start_colour = static_cast<Colour>(bytes[0] >> 4 & 3);
  config.both_buckets_on_green = (bytes[0] & 8) != 0;
  config.unit = static_cast<Unit>(bytes[0] & 3);
  config.committed_burst = burst(8);
  config.committed_rate = rate(10);
  config.excess_burst = burst(16);
  config.excess_rate = rate(18);
  return config;
}

void Meter::configure(const MeterConfig& config) {
  config_ = config;
  if (config_.committed_burst == 0 && config_.committed_rate > 0) {
    config_.committed_burst = std::max<std::uint64_t>(config_.committed_rate / 1000, 1);
  }
  committed_ = in_tokens(config_.committed_burst);
  excess_ = in_tokens(config_.excess_burst);
  started_ = false;
}

void Meter::fill(std::uint64_t now_ns) {
  const std::uint64_t passed = started_ && now_ns > filled_at_ns_ ? now_ns - filled_at_ns_ : 0;
  filled_at_ns_ = started_ ? std::max(now_ns, filled_at_ns_) : now_ns;
  started_ = true;
  const Tokens committed_limit = in_tokens(config_.committed_burst);
  const Tokens excess_limit = in_tokens(config_.excess_burst);
  committed_ += Tokens{config_.committed_rate} * passed;
  if (config_.bucket_overflow) {
    if (committed_ > committed_limit) excess_ += committed_ - committed_limit;
  } else {
    excess_ += Tokens{config_.excess_rate} * passed;
  }
  committed_ = std::min(committed_, committed_limit);
  excess_ = std::min(excess_, excess_limit);
}

std::uint64_t Meter::cost(const Packet& packet) const {
  const std::uint32_t size = packet.frame().size;
  switch (config_.unit) {
    case MeterConfig::Unit::kIpBytes:
      return packet.layers().outer.has_ip() ? size - packet.layers().outer.l3 : size;
    case MeterConfig::Unit::kWireBytes:
      return size + 24u;
    case MeterConfig::Unit::kPackets:
      return 1;
    case MeterConfig::Unit::kFrameBytes:
      break;
  }
  return size;
}

Colour Meter::colour(const Packet& packet) {
  if (!config_.valid) return Colour::kGreen;
  fill(packet.now_ns());
  if (config_.start_colour == Colour::kRed) return Colour::kRed;
  const bool may_be_green = config_.start_colour != Colour::kYellow;
  const Tokens wanted = in_tokens(cost(packet));
  const bool has_excess = excess_ >= wanted;
  if (config_.both_buckets_on_green && !has_excess) return Colour::kRed;
  if (may_be_green && committed_ >= wanted) {
    committed_ -= wanted;
    if (config_.both_buckets_on_green) excess_ -= wanted;
    return Colour::kGreen;
  }
  if (!has_excess) return Colour::kRed;
  excess_ -= wanted;
  return Colour::kYellow;
}

}  // namespace verbs::mlx5::steering
