// RAW_PACKET queue pairs of a vendor's model: whole Ethernet frames, between the ports of devices of this process.
#include "frame_model.h"

using namespace verbs::soft::test;

namespace {

constexpr std::size_t kAt = 64 << 10;

void configure_frames() {
  register_frame_model();
  configure("f0,kind=frames;f1,kind=frames,ports=2");
}

}  // namespace

TEST_CASE("a frame goes from one device to another, unchanged") {
  configure_frames();
  RawEnd a("f0"), b("f1");
  const Bytes frame = frame_of(b.mac(), a.mac(), 64);
  REQUIRE(b.post_recv(kAt, 2048) == 0);
  REQUIRE(a.send_frame(frame) == 0);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  CHECK(b.receive_frame() == frame);
}
