// The messages of IBTA volume 1, 12.6: plain values with parse() and emit(). emit() writes into zeroed bytes, and
// neither touches the header of the datagram but for its attribute modifier. `data` is the private data, of which
// emit() takes at most kData bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "verbs_soft_cm.h"
#include "wire/bytes.h"
#include "wire/gid.h"

namespace verbs::soft::cm {

// Management datagrams of the communication management class: 256 bytes, of which the first 24 are the header that all
// classes have (IBTA volume 1, 13.4 and 12.6).

inline constexpr std::size_t kMadSize = 256;
inline constexpr std::size_t kMadHeader = 24;
// Of the attribute modifier, in which REQ and REP have the options of extended connection establishment.
inline constexpr std::size_t kMadModifier = 20;

using Mad = std::array<std::uint8_t, kMadSize>;
using MadView = std::span<const std::uint8_t, kMadSize>;

enum class Attribute : std::uint16_t {
  kReq = 0x10,
  kMra = 0x11,
  kRej = 0x12,
  kRep = 0x13,
  kRtu = 0x14,
  kDreq = 0x15,
  kDrep = 0x16,
  kSidrReq = 0x17,
  kSidrRep = 0x18,
  kLap = 0x19,
  kApr = 0x1a,
};

struct MadHeader {
  static constexpr std::uint8_t kBaseVersion = 1;
  static constexpr std::uint8_t kClass = 0x07;
  static constexpr std::uint8_t kClassVersion = 2;
  static constexpr std::uint8_t kSend = 0x03;

  std::uint64_t transaction = 0;
  Attribute attribute = Attribute::kReq;

  // False unless it is a message of this class and version.
  static bool parse(MadView mad, MadHeader* header) {
    if (mad[0] != kBaseVersion || mad[1] != kClass || mad[2] != kClassVersion || mad[3] != kSend) return false;
    header->transaction = wire::load_be<std::uint64_t>(&mad[8]);
    header->attribute = static_cast<Attribute>(wire::load_be<std::uint16_t>(&mad[16]));
    return true;
  }

  void emit(Mad* mad) const {
    (*mad)[0] = kBaseVersion;
    (*mad)[1] = kClass;
    (*mad)[2] = kClassVersion;
    (*mad)[3] = kSend;
    wire::store_be(&(*mad)[8], transaction);
    wire::store_be(&(*mad)[16], static_cast<std::uint16_t>(attribute));
  }
};

using Data = std::span<const std::uint8_t>;

// Extended connection establishment: 24 bits of a vendor, and options that only the vendor's providers understand.
struct Ece {
  std::uint32_t vendor_id = 0;
  std::uint32_t options = 0;
};

// Which message a MRA or a REJ is about.
enum class About : std::uint8_t { kReq = 0, kRep = 1, kOther = 2 };

struct Req {
  static constexpr std::size_t kData = 92;
  // Of `transport` beside those of verbs_soft_cm_transport: reserved, or an extended one that is not XRC.
  static constexpr std::uint8_t kReserved = 2;

  std::uint32_t local_id = 0;
  std::uint64_t service_id = 0;
  std::uint64_t guid = 0;
  std::uint32_t qkey = 0;
  std::uint32_t qpn = 0;
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t remote_timeout = 0;  // time that the receiver has to answer: 4.096 us << it
  std::uint8_t transport = VERBS_SOFT_CM_RC;
  bool flow_control = false;
  std::uint32_t psn = 0;
  std::uint8_t local_timeout = 0;
  std::uint8_t retry_count = 0;
  std::uint16_t pkey = 0xffff;
  std::uint8_t path_mtu = 0;
  std::uint8_t rnr_retry_count = 0;
  std::uint8_t max_cm_retries = 0;
  bool srq = false;
  wire::Gid local_gid;
  wire::Gid remote_gid;
  std::uint32_t flow_label = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;
  std::uint8_t ack_timeout = 0;
  Ece ece;
  Data data{};

  static Req parse(MadView mad);
  void emit(Mad* mad) const;
  static void set_path_mtu(Mad* mad, std::uint8_t path_mtu);
};

struct Rep {
  static constexpr std::size_t kData = 196;

  std::uint32_t local_id = 0;
  std::uint32_t remote_id = 0;
  std::uint32_t qpn = 0;
  std::uint32_t eecn = 0;  // of an XRC target: its queue pair number
  std::uint32_t psn = 0;
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t ack_delay = 0;
  bool flow_control = false;
  std::uint8_t rnr_retry_count = 0;
  bool srq = false;
  std::uint64_t guid = 0;
  Ece ece;
  Data data{};

  static Rep parse(MadView mad);
  void emit(Mad* mad) const;
};

struct Rej {
  static constexpr std::size_t kData = 148;
  static constexpr std::size_t kInfo = 72;

  std::uint32_t local_id = 0;
  std::uint32_t remote_id = 0;
  About about = About::kReq;
  std::uint16_t reason = 0;
  Data info{};  // additional information: with a timeout, the GUID of the one that gave up; the MTU that is possible
  Data data{};

  // The first four bits of the information.
  static std::uint8_t mtu_info(std::uint8_t path_mtu) { return static_cast<std::uint8_t>(path_mtu << 4); }
  std::uint8_t mtu() const { return info.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(info[0] >> 4); }
  static Rej parse(MadView mad);
  void emit(Mad* mad) const;
};

// The additional information of a timeout: who has given up. Where the peer's number is not known yet, also for what it
// had asked: the processes of a host share its address, and none of them is named. Others write and read the GUID
// alone.
struct Withdrawal {
  static constexpr std::size_t kGuid = 8, kSize = 32;

  std::uint64_t guid = 0;
  std::uint64_t service_id = 0;  // 0: it is not said
  wire::Gid address{};           // where the service listens, as the request named it

  static bool parse(Data info, Withdrawal* withdrawal);
  std::array<std::uint8_t, kSize> bytes() const;
};

struct Mra {
  std::uint32_t local_id = 0;
  std::uint32_t remote_id = 0;
  About about = About::kReq;
  std::uint8_t service_timeout = 0;

  static Mra parse(MadView mad);
  void emit(Mad* mad) const;
};

// RTU, DREP, and the beginning of LAP.
struct Notice {
  static constexpr std::size_t kData = 224;

  std::uint32_t local_id = 0;
  std::uint32_t remote_id = 0;
  Data data{};

  static Notice parse(MadView mad);
  void emit(Mad* mad) const;
};

struct Dreq {
  static constexpr std::size_t kData = 220;

  std::uint32_t local_id = 0;
  std::uint32_t remote_id = 0;
  std::uint32_t remote_qpn = 0;
  Data data{};

  static Dreq parse(MadView mad);
  void emit(Mad* mad) const;
};

struct Apr {
  static constexpr std::uint8_t kUnsupported = 2;

  std::uint32_t local_id = 0;
  std::uint32_t remote_id = 0;
  std::uint8_t status = 0;

  static Apr parse(MadView mad);
  void emit(Mad* mad) const;
};

struct SidrReq {
  static constexpr std::size_t kData = 216;

  std::uint32_t request_id = 0;
  std::uint16_t pkey = 0xffff;
  std::uint64_t service_id = 0;
  Data data{};

  static SidrReq parse(MadView mad);
  void emit(Mad* mad) const;
};

struct SidrRep {
  static constexpr std::size_t kData = 136;
  static constexpr std::uint8_t kUnsupported = 1, kRejected = 2;

  std::uint32_t request_id = 0;
  std::uint8_t status = 0;
  std::uint32_t qpn = 0;
  std::uint64_t service_id = 0;
  std::uint32_t qkey = 0;
  Data data{};

  static SidrRep parse(MadView mad);
  void emit(Mad* mad) const;
};

// A message as the datagram that carries it.

template <typename Message>
Mad make_mad(std::uint64_t transaction, Attribute attribute, const Message& message) {
  Mad mad{};
  MadHeader{transaction, attribute}.emit(&mad);
  message.emit(&mad);
  return mad;
}

// The IP addressing header at the start of a request's private data (IBTA annex A11): by which addresses and port a
// program chose its peer.

// False unless the bytes begin with such a header, and the addresses are of the version that it names.
bool parse_ip_header(std::span<const std::uint8_t> bytes, verbs_soft_cm_ip* ip);
// Writes VERBS_SOFT_CM_IP_HEADER bytes.
void emit_ip_header(const verbs_soft_cm_ip& ip, std::uint8_t* bytes);

}  // namespace verbs::soft::cm
