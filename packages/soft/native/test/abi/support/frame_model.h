// A model whose steering is a short list: frames that queue pairs send leave by their port, frames that arrive go to
// every receiver of the list for that port. And an end of a raw packet conversation on a device of that kind.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <map>
#include <mutex>
#include <vector>

#include "include/verbs_soft_extension.h"
#include "test/abi/support/device_pair.h"

namespace verbs::soft::test {

inline const verbs_soft_extension_table* soft() { return verbs_soft_extension(VERBS_SOFT_EXTENSION_VERSION); }

struct FrameReceiver {
  ibv_device* device;
  std::uint8_t port_num;
  ibv_qp* qp;
  verbs_soft_delivery delivery;
};

// Registers the kinds "frames" and "frameless", once.
void register_frame_model();
// Under the lock of the receiver's device.
void add_receiver(const FrameReceiver& receiver);
void remove_receiver(const ibv_qp* qp);

struct FrameModel {
  std::vector<FrameReceiver> receivers;
  std::uint8_t send_port = 0;                        // not 0: frames leave by this port
  std::size_t pushed = 0;                            // bytes of 0xff that are put in front of each frame that is sent
  std::map<const ibv_device*, std::uint64_t*> seen;  // counters of frames that arrived
  int transmitted = 0;                               // the result of the last transmit_frame()
  std::mutex mutex;                                  // devices have a lock each, and the list is for all of them
};
FrameModel& frame_model();

using Bytes = std::vector<std::uint8_t>;
using Address = std::array<std::uint8_t, 6>;
inline constexpr Address kGroup{0x01, 0x00, 0x5e, 1, 2, 3};

inline Address mac_of(const ibv_context* context, std::uint8_t port_num = 1) {
  Address mac{};
  REQUIRE(soft()->port_mac(context->device, port_num, mac.data()) == 0);
  return mac;
}

// An Ethernet frame of `size` bytes with an unused type, each byte behind it another.
inline Bytes frame_of(const Address& to, const Address& from, std::size_t size) {
  Bytes frame(to.begin(), to.end());
  frame.insert(frame.end(), from.begin(), from.end());
  frame.insert(frame.end(), {0x88, 0xb5});
  for (std::size_t i = frame.size(); i < size; ++i) frame.push_back(static_cast<std::uint8_t>(i * 7));
  frame.resize(size);
  return frame;
}

inline constexpr std::size_t kReceiveAt = 64 << 10;
inline constexpr std::uint32_t kRoom = 8192;

// f0 with one port, f1 with two, and plain0, whose model has no raw packets.
void configure_frames(const std::string& options = "");
ibv_qp_state state_of(ibv_qp* qp);

// A context with a RAW_PACKET queue pair in RTS that is a receiver of its port.
struct RawEnd : End {
  explicit RawEnd(const std::string& device, std::uint8_t port_num = 1, bool events = false);
  ~RawEnd();

  // In place of the first: to RTS, and a receiver. nullptr: none.
  void replace_qp(ibv_qp* by, const verbs_soft_delivery& delivery = {});
  int send_frame(const Bytes& frame, unsigned flags = IBV_SEND_SIGNALED);
  // The next frame, which was received into the memory from kReceiveAt on.
  Bytes receive_frame();
  Address mac() const { return mac_of(context.get(), port); }

  std::uint8_t port;

 private:
  void start(const verbs_soft_delivery& delivery);
};

}  // namespace verbs::soft::test
