// Flows of ibv_create_flow().
#include <arpa/inet.h>

#include <cstring>

#include "test/support/model/ends.h"

using namespace verbs::mlx5::test;

namespace {

// Attributes followed by specifications.
class Attr {
 public:
  explicit Attr(std::initializer_list<Bytes> specs = {}) : bytes_(sizeof(ibv_flow_attr)) {
    for (const Bytes& spec : specs) bytes_.insert(bytes_.end(), spec.begin(), spec.end());
    get()->size = static_cast<std::uint16_t>(bytes_.size());
    get()->num_of_specs = static_cast<std::uint8_t>(specs.size());
    get()->port = 1;
  }
  ibv_flow_attr* get() { return reinterpret_cast<ibv_flow_attr*>(bytes_.data()); }
  ibv_flow_attr* operator->() { return get(); }

 private:
  Bytes bytes_;
};

template <typename Spec>
Bytes bytes_of(Spec& spec, unsigned type) {
  spec.type = static_cast<ibv_flow_spec_type>(type);
  spec.size = sizeof spec;
  const auto* at = reinterpret_cast<const std::uint8_t*>(&spec);
  return Bytes(at, at + sizeof spec);
}

Bytes ethernet() {
  ibv_flow_spec_eth spec{};
  std::memcpy(spec.val.src_mac, kSmac.data(), 6);
  std::memset(spec.mask.src_mac, 0xff, 6);
  spec.val.ether_type = htons(0x0800);
  spec.mask.ether_type = 0xffff;
  return bytes_of(spec, IBV_FLOW_SPEC_ETH);
}

Bytes ipv4(const char* source) {
  ibv_flow_spec_ipv4 spec{};
  spec.val.src_ip = inet_addr(source);
  spec.mask.src_ip = ~0u;
  return bytes_of(spec, IBV_FLOW_SPEC_IPV4);
}

Bytes udp(std::uint16_t port) {
  ibv_flow_spec_tcp_udp spec{};
  spec.val.dst_port = htons(port);
  spec.mask.dst_port = 0xffff;
  return bytes_of(spec, IBV_FLOW_SPEC_UDP);
}

}  // namespace

TEST_CASE("a flow of specifications receives the frames that they match, and no others") {
  End sender, receiver;
  ibv_flow_spec_action_tag tag{};
  tag.tag_id = 77;
  Attr attr({ethernet(), ipv4("1.1.1.1"), udp(5678), bytes_of(tag, IBV_FLOW_SPEC_ACTION_TAG)});
  ibv_flow* flow = ibv_create_flow(receiver.qp, attr.get());
  REQUIRE(flow);
  receiver.post_receive();
  Bytes other = example_frame();
  other[37] = 0;  // another port
  sender.send(other);
  CHECK(receiver.receive().empty());
  sender.send(example_frame());
  CHECK(receiver.receive() == example_frame());
  CHECK(receiver.flow_tag == 77);
  CHECK(ibv_destroy_qp(receiver.qp) == EBUSY);
  CHECK(ibv_destroy_flow(flow) == 0);
  CHECK(ibv_destroy_flow(ibv_create_flow(receiver.qp, attr.get())) == 0);
}

TEST_CASE("a drop of specifications comes before the default flow") {
  End sender, receiver;
  Attr all, multicast;
  all->type = IBV_FLOW_ATTR_ALL_DEFAULT;
  ibv_flow* flow = ibv_create_flow(receiver.qp, all.get());
  REQUIRE(flow);
  receiver.post_receive();
  sender.send(example_frame());
  CHECK(receiver.receive() == example_frame());
  ibv_flow_spec_action_drop drop{};
  Attr dropping({ethernet(), bytes_of(drop, IBV_FLOW_SPEC_ACTION_DROP)});
  ibv_flow* dropped = ibv_create_flow(receiver.qp, dropping.get());
  REQUIRE(dropped);
  receiver.post_receive();
  sender.send(example_frame());
  CHECK(receiver.receive().empty());
  CHECK(ibv_destroy_flow(dropped) == 0);
  CHECK(ibv_destroy_flow(flow) == 0);
  multicast->type = IBV_FLOW_ATTR_MC_DEFAULT;
  REQUIRE(ibv_create_flow(receiver.qp, multicast.get()));
  sender.send(example_frame());
  CHECK(receiver.receive() == example_frame());
}

TEST_CASE("valid and invalid flows of specifications") {
  End end;
  const auto error = [&](Attr& attr) { return ERRNO_OF(ibv_create_flow(end.qp, attr.get())); };
  Attr attr({ethernet()});
  attr->comp_mask = 1;
  CHECK(error(attr) == EINVAL);
  attr->comp_mask = 0;
  attr->flags = 1 << 7;
  CHECK(error(attr) == EINVAL);
  attr->flags = IBV_FLOW_ATTR_FLAGS_EGRESS;
  CHECK(error(attr) == EOPNOTSUPP);
  attr->flags = 0;
  attr->port = 2;
  CHECK(error(attr) == EINVAL);
  attr->port = 1;
  attr->type = IBV_FLOW_ATTR_SNIFFER;
  CHECK(error(attr) == EOPNOTSUPP);
  attr->type = IBV_FLOW_ATTR_ALL_DEFAULT;
  CHECK(error(attr) == EINVAL);  // with a specification
  attr->type = IBV_FLOW_ATTR_NORMAL;
  attr->size = 0;  // is ignored
  attr->priority = 16;
  CHECK(error(attr) == ENOMEM);
  attr->priority = 0;
  CHECK(error(attr) == 0);
  ibv_flow_spec_esp esp{};
  Attr unknown({bytes_of(esp, IBV_FLOW_SPEC_ESP)});
  CHECK(error(unknown) == EOPNOTSUPP);
  Bytes wrong = ethernet();
  reinterpret_cast<ibv_flow_spec_eth*>(wrong.data())->size -= 4;
  wrong.resize(wrong.size() - 4);
  Attr sized({wrong});
  CHECK(error(sized) == EINVAL);
}
