// Why the NIC dropped a packet, failed a request or refused a call: the numbers of the reasons, their sentences, and
// the ring of the last events. Only a refusal writes: what succeeds does not come by here.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "link/link.h"
#include "wire/gid.h"

namespace verbs::soft::nic {

// Numbers and names are for programs, too: a new reason goes to the end of its part of the list, and of the table in
// reasons.cc.
enum class Reason : std::uint8_t {
  kNone,
  // A packet is dropped. These are counters of the device.
  kDropMalformed,
  kDropDestination,
  kDropPortDown,
  kDropTunnel,
  kDropUnknownQp,
  kDropPkey,
  kDropIcrc,
  kDropPort,
  kDropTransport,
  kDropState,
  kDropPeer,
  kDropQkey,
  kDropNoReceive,
  kDropNoRoom,
  kDropLongDatagram,
  kDropLostMessage,
  kDropSourcePort,
  kDropGroupQpn,
  kDropFailed,
  // The responder refuses a request, or a receive request fails.
  kQpRight,
  kNoReadsTaken,
  kUnknownRkey,
  kRkeyOfOtherPd,
  kRegionRight,
  kBeyondRegion,
  kClosedWindow,
  kMemoryGone,
  kMisaligned,
  kShortReceive,
  kMessageOrder,
  kPacketLength,
  kMessageLength,
  kRequestForm,
  kUnknownSrq,
  kNotInvalidated,
  kSrqDestroyed,
  kCqOverrun,
  kTagHeader,
  // A send request fails.
  kUnknownLkey,
  kLkeyOfOtherPd,
  kLocalRight,
  kBeyondLocalRegion,
  kLongMessage,
  kLongDatagram,
  kFrameLength,
  kOperationMissing,
  kHandleOfOtherPd,
  kNoReadsAsked,
  kWindowNotBound,
  kWindowNotInvalidated,
  kPeerRefused,
  kNoReceiveAtPeer,
  kNoAnswer,
  kBadResponse,
  kFlushed,
  // A post is refused.
  kSendState,
  kReceiveState,
  kQueueFull,
  kTooManySges,
  kUnknownOperation,
  kNeverInline,
  kLongInline,
  kInlineUnmapped,
  kNoAddressHandle,
  kAtomicLength,
  kPostForm,
  kReceivesFromSrq,
  kReceivesNothing,
  kOperationNotAsked,
  kBatchForm,
  kSendsOfTagMatching,
  kNoTagMatching,
  kTagOperation,
  kTagListFull,
  kTagHandle,
  kHandlePort,
  // A change of state, or an address, is refused.
  kOtherState,
  kNoTransition,
  kMissingAttributes,
  kExtraAttributes,
  kDraining,
  kNoSuchPort,
  kPkeyIndex,
  kLargeMtu,
  kLargeAttribute,
  kNoAlternatePath,
  kNoRateLimit,
  kNoGrh,
  kGidIndex,
  kAddressForm,
  kNoDestination,
  kIpVersions,
  kGroupAsPeer,
  kUnreachable,
  kOtherGid,
  kAddressTaken,
  // A queue pair is not created.
  kQpType,
  kQpParts,
  kQpLimit,
  kTagMatchingQp,
  kRawPrivilege,
  // Another object is not created.
  kCqEntries,
  kCompVector,
  kSrqLimit,
  kSrqParts,
  kTagLimit,
  kObjectLimit,
  // A queue pair does not join a multicast group, or is not in it.
  kGroupType,
  kNoGroup,
  kNotAttached,
  // Memory is not registered.
  kUnknownAccess,
  kRemoteWithoutLocal,
  kUnmapped,
  // A flow is not created.
  kFlowQueuePair,
  kFlowAttributes,
  kFlowPort,
  kFlowForm,
  kFlowSpecification,
  kFlowTag,
  kFlowConflict,
  // An object is not destroyed, changed or made, or there is nothing to ask about.
  kInUse,
  kBoundWindows,
  kCqHolds,
  kDmRoom,
  kDmForm,
  kWindowType,
  kNoPort,
  kNoEntry,
  kCount,
};
inline constexpr std::size_t kReasons = static_cast<std::size_t>(Reason::kCount);

// A reason with the values that mattered, in the order of its sentence.
struct Why {
  Reason reason = Reason::kNone;
  std::array<std::uint64_t, 4> values{};
};

enum class Place : std::uint8_t {
  kArrival,     // a packet that came
  kDeparture,   // a packet that was to leave
  kResponder,   // the peer's request
  kCompletion,  // this side's request
  kModifyQp,
  kPostSend,
  kPostRecv,
  kPostSrqRecv,
  kPostSrqOps,
  kCreateQp,
  kCreateAh,
  kWrComplete,
  kRegMr,
  kCreateFlow,
  kCreateCq,
  kCreateSrq,
  kAttachMcast,
  kDetachMcast,
  kResolveAddr,
  kDeallocPd,
  kDeallocTd,
  kDeregMr,
  kFreeDm,
  kDestroyCompChannel,
  kDestroyCq,
  kDestroyCompCntr,
  kDestroyQp,
  kDestroySrq,
  kDestroyWq,
  kDestroyIndTable,
  kCloseXrcd,
  kResizeCq,
  kAllocDm,
  kAllocMw,
  kQueryPort,
  kQueryGid,
  kQueryPkey,
};

struct ReasonEvent {
  link::Nanos time = 0;
  std::uint64_t count = 0;  // how often the device had this reason, this time included
  std::uint64_t wr_id = 0;  // of the request that fails
  Why why{};
  Why peers{};  // what the peer's end had against the request, if that is at this device
  wire::Gid peer{};
  std::uint32_t qp = 0;       // 0: none
  std::uint32_t peer_qp = 0;  // 0: unknown
  int error = 0;              // of a call
  // Of a packet that came to no queue pair: the how many-th peer this is whose packets are dropped, for this reason,
  // for the first time; else 0. The device knows the peers of its last events.
  std::uint32_t new_peer = 0;
  ibv_wc_status status = IBV_WC_SUCCESS;
  std::uint8_t syndrome = 0;  // of the NAK
  Place place = Place::kArrival;
};

struct ReasonInfo {
  Reason reason;
  const char* name;
  // With "{name}" for each value, and "{name:format}": see reasons.cc.
  const char* sentence;
  const char* help;
};
const ReasonInfo& info_of(Reason reason);

std::string sentence_of(const Why& why);
// The values of the sentence, by their names.
std::vector<std::pair<std::string, std::string>> values_of(const Why& why);

// The name of the call that refused, of ibv_poll_cq for a completion; nullptr for a packet.
const char* call_of(const ReasonEvent& event);
const char* name_of(ibv_qp_type type);
const char* name_of(ibv_qp_state state);
const char* name_of(ibv_wc_status status);  // "REM_ACCESS_ERR"
const char* nak_name(std::uint8_t syndrome);

// The last events of a device. An event like the one before it takes its place, so that what repeats itself leaves the
// others in.
class ReasonRing {
 public:
  static constexpr std::size_t kRoom = 64;

  void add(const ReasonEvent& event) {
    if (size_ == 0 || !is_like(last(), event)) ++size_;
    events_[(size_ - 1) % kRoom] = event;
  }
  // Oldest first.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::uint64_t i = size_ > kRoom ? size_ - kRoom : 0; i < size_; ++i) visit(events_[i % kRoom]);
  }
  // The newest one that `matches`, or nullptr.
  template <typename Match>
  const ReasonEvent* find_last(Match&& matches) const {
    for (std::uint64_t i = size_; i > 0 && i + kRoom > size_; --i) {
      const ReasonEvent& event = events_[(i - 1) % kRoom];
      if (matches(event)) return &event;
    }
    return nullptr;
  }

 private:
  const ReasonEvent& last() const { return events_[(size_ - 1) % kRoom]; }
  static bool is_like(const ReasonEvent& a, const ReasonEvent& b) {
    return a.why.reason == b.why.reason && a.place == b.place && a.qp == b.qp && a.peer_qp == b.peer_qp &&
           a.status == b.status && a.peer == b.peer;
  }

  std::array<ReasonEvent, kRoom> events_;
  std::uint64_t size_ = 0;  // of all that ever were
};

}  // namespace verbs::soft::nic
