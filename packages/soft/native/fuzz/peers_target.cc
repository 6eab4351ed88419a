// Datagrams as a socket shows them, from software NICs of this project, from foreign peers and from anybody else, until
// they are frames: no length makes the code read beyond them, only the identification of an IPv4 header changes, and
// it becomes what the ICRC was made for.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "fuzz/check.h"
#include "fuzz/input.h"
#include "link/udp/foreign_peers.h"
#include "link/udp/transmit_batch.h"
#include "wire/bytes.h"
#include "wire/icrc.h"
#include "wire/identification.h"

using namespace verbs::soft;
using namespace verbs::soft::fuzz;

namespace {

constexpr std::uint16_t kOwnPort = wire::kRocePort;
constexpr std::size_t kMostDatagrams = 64;
constexpr std::size_t kLongest = wire::kMaxFrame - wire::kMaxNetworkSize;
constexpr std::size_t kShortestPacket = 16;  // BTH and ICRC

enum class Kind : std::uint8_t { kLoopback, kOwn, kForeign, kIpv6 };

struct Sender {
  Kind kind = Kind::kOwn;
  wire::Gid gid;
};

wire::Gid ipv4(std::uint8_t first, std::uint8_t last) {
  const std::uint8_t bytes[] = {first, 0, 0, last};
  return wire::Gid::from_ipv4(bytes);
}
wire::Gid ipv6(std::uint8_t last) {
  std::uint8_t bytes[16] = {0xfd};
  bytes[15] = last;
  return wire::Gid::from_bytes(bytes);
}

Sender take_sender(Input* input) {
  const std::uint8_t last = input->byte();
  switch (input->below(4)) {
    case 0:
      return {Kind::kLoopback, ipv4(127, last)};
    case 1:
      return {Kind::kForeign, ipv4(192, last)};
    case 2:
      return {Kind::kIpv6, ipv6(last)};
    default:
      return {Kind::kOwn, ipv4(10, last)};
  }
}

// No foreign peers, those of one network, or all.
std::shared_ptr<const link::ForeignPeers> take_foreign(Input* input, bool* all) {
  auto foreign = std::make_shared<link::ForeignPeers>();
  const std::size_t choice = input->below(3);
  *all = choice == 2;
  if (choice == 0) foreign->close();
  if (choice == 1) foreign->add({.address = ipv4(192, 0), .length = 104});
  if (choice == 2) foreign->add({.address = {}, .length = 0});
  return foreign;
}

struct Datagram {
  wire::Path path;
  std::vector<std::uint8_t> bytes;
  // Of a packet with the right ICRC for it: what its IPv4 header had.
  std::optional<std::uint16_t> identification;
};

using Frame = std::vector<std::uint8_t>;  // no byte longer than what is in it

// As the link rebuilds it.
Frame frame_of(const Datagram& datagram) {
  Frame frame(wire::network_size(datagram.path) + datagram.bytes.size());
  const std::size_t network = wire::write_network(frame.data(), datagram.path, datagram.bytes.size());
  std::copy(datagram.bytes.begin(), datagram.bytes.end(), frame.begin() + static_cast<std::ptrdiff_t>(network));
  frame.shrink_to_fit();
  return frame;
}

// Gives the datagram the ICRC that its sender computed.
void seal(Datagram* datagram, std::uint16_t identification) {
  Frame frame = frame_of(*datagram);
  const bool ipv4 = datagram->path.sgid.is_ipv4();
  if (ipv4) wire::set_identification(frame, identification);
  wire::seal_icrc(frame);
  std::copy(frame.end() - 4, frame.end(), datagram->bytes.end() - 4);
  datagram->identification = ipv4 ? identification : 0;
}

Datagram take_datagram(Input* input, const Sender& sender) {
  Datagram datagram;
  datagram.path.sgid = sender.gid;
  datagram.path.dgid = sender.gid.is_ipv4() ? ipv4(10, 200) : ipv6(200);
  datagram.path.traffic_class = input->byte();
  datagram.path.hop_limit = input->byte();
  datagram.path.source_port = input->one_in(2) ? input->take<std::uint16_t>() : kOwnPort;
  const bool packet = input->one_in(2);
  const auto identification = input->take<std::uint16_t>();
  const std::span<const std::uint8_t> bytes = input->bytes(input->take<std::uint16_t>() % (kLongest + 1));
  datagram.bytes.assign(bytes.begin(), bytes.end());
  if (!packet) return datagram;
  // Whole words, as the payload of RoCE is padded. A longer one for few bytes of input.
  const std::size_t size = std::max(kShortestPacket, bytes.size() / 4 * 4 + input->byte() * 4);
  datagram.bytes.resize(std::min(size, kLongest / 4 * 4));
  seal(&datagram, identification);
  return datagram;
}

bool has_right_checksum(const Frame& frame) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < wire::kIpv4Size; i += 2) sum += wire::load_be<std::uint16_t>(&frame[i]);
  return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

// What holds for any bytes.
void check_frame(const Frame& before, const Frame& after, link::FrameForm form, bool foreign, Kind kind) {
  FUZZ_CHECK(after.size() == before.size());
  if (form == link::FrameForm::kUnsealed) FUZZ_CHECK(!foreign && kind == Kind::kOwn && wire::check_icrc(after));
  if (after == before) return;
  FUZZ_CHECK(before[0] == 0x45 && (foreign || kind == Kind::kOwn));
  // No change but that of the identification, with the checksum of the header; and that makes the ICRC right.
  Frame restored = before;
  const auto identification = wire::load_be<std::uint16_t>(&after[4]);
  wire::set_identification(restored, identification);
  FUZZ_CHECK(restored == after && identification != 0);
  FUZZ_CHECK(has_right_checksum(after) && wire::check_icrc(after));
  FUZZ_CHECK(foreign || identification < link::TransmitBatch::kMostSegments);
}

class Socket {
 public:
  Socket(std::shared_ptr<const link::ForeignPeers> foreign, bool all)
      : foreign_(foreign), all_(all), filter_(kOwnPort, std::move(foreign)) {}

  // Whether the NIC would take it for a packet.
  bool receive(const Datagram& datagram, Kind kind) {
    const bool foreign = all_ || (kind == Kind::kForeign && !foreign_->networks().empty());
    const std::uint64_t rejected = filter_.rejected();
    const bool admitted = filter_.admits(datagram.path);
    FUZZ_CHECK(admitted == (foreign || datagram.path.source_port == kOwnPort));
    FUZZ_CHECK(filter_.rejected() == rejected + (admitted ? 0 : 1));
    if (!admitted) return false;
    // A stranger that is no foreign peer is an own one.
    const Kind seen = kind == Kind::kForeign && !foreign ? Kind::kOwn : kind;
    const Frame before = frame_of(datagram);
    Frame after = before;
    const link::FrameForm form = filter_.complete(after, datagram.path);
    check_frame(before, after, form, foreign, seen);
    const bool taken = after.size() >= wire::network_size(datagram.path) + kShortestPacket && wire::check_icrc(after);
    if (datagram.identification) check_packet(datagram, after, taken, foreign, seen);
    return taken;
  }

 private:
  // What holds for a packet that nobody damaged.
  static void check_packet(const Datagram& datagram, const Frame& after, bool taken, bool foreign, Kind kind) {
    const std::uint16_t identification = *datagram.identification;
    if (taken && kind != Kind::kIpv6) FUZZ_CHECK(wire::load_be<std::uint16_t>(&after[4]) == identification);
    if (identification == 0) FUZZ_CHECK(taken);
    if (!foreign && kind == Kind::kLoopback) FUZZ_CHECK(taken == (identification == 0));
    if (!foreign && kind == Kind::kOwn) FUZZ_CHECK(taken == (identification < link::TransmitBatch::kMostSegments));
  }

  std::shared_ptr<const link::ForeignPeers> foreign_;
  bool all_;
  link::PeerFilter filter_;
};

// The same with a time of its own: whatever came before, a foreign peer is believed that says it twice, and a new one
// at once.
void check_belief(link::Identifications* identifications, const Datagram& datagram, link::Nanos now) {
  const Frame before = frame_of(datagram);
  Frame after = before;
  identifications->restore(after, now);
  check_frame(before, after, link::FrameForm::kSealed, true, Kind::kForeign);
  if (!datagram.identification) return;
  after = before;
  identifications->restore(after, now);
  FUZZ_CHECK(wire::check_icrc(after) && wire::load_be<std::uint16_t>(&after[4]) == *datagram.identification);
  link::Identifications fresh;
  after = before;
  fresh.restore(after, now);
  FUZZ_CHECK(wire::check_icrc(after));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  bool all = false;
  const auto foreign = take_foreign(&input, &all);
  Socket socket(foreign, all);
  link::Identifications identifications;
  link::Nanos now = 0;
  for (std::size_t i = 0; i < kMostDatagrams && !input.empty(); ++i) {
    const Sender sender = take_sender(&input);
    const Datagram datagram = take_datagram(&input, sender);
    const bool taken = socket.receive(datagram, sender.kind);
    // A foreign peer that says it again is believed: there was nobody else in between.
    const bool admitted = all || (sender.kind == Kind::kForeign && !foreign->networks().empty());
    if (datagram.identification && admitted && !taken) FUZZ_CHECK(socket.receive(datagram, sender.kind));
    now += input.take<std::uint16_t>() * link::Nanos{1'000'000};
    if (sender.gid.is_ipv4()) check_belief(&identifications, datagram, now);
  }
  return 0;
}
