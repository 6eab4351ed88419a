#include "host/configuration/configuration.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

using namespace verbs::soft;
using namespace verbs::soft::host;

namespace {

// The devices of a text that must be right.
std::vector<DeviceConfig> read_devices(const std::string& text) {
  std::vector<DeviceText> devices;
  REQUIRE(split_configuration(text, &devices) == "");
  std::vector<DeviceConfig> configs;
  for (const DeviceText& device : devices) {
    DeviceConfig config;
    REQUIRE(read_device(device, "", &config) == "");
    configs.push_back(std::move(config));
  }
  return configs;
}

// What is wrong with a text of one device.
std::string error_of(const std::string& text) {
  std::vector<DeviceText> devices;
  std::string error = split_configuration(text, &devices);
  DeviceConfig config;
  if (error.empty()) error = read_device(devices.at(0), "", &config);
  return error;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("nothing, blanks and comments configure the one default device") {
  for (const char* text : {"", "  \n ", ";;", "# only a comment\n"}) {
    const auto configs = read_devices(text);
    REQUIRE(configs.size() == 1);
    CHECK(configs[0].name == "soft0");
    CHECK(configs[0].kind == "roce");
    CHECK(configs[0].addresses.empty());
    CHECK(configs[0].port_state.mtu == IBV_MTU_4096);
    CHECK(configs[0].ports == 1);
  }
}

TEST_CASE("devices are separated by semicolons and line ends, options by commas") {
  const auto configs = read_devices("a, mtu=1024 ,addr=127.0.0.9;b\n c,addr=::1,addr=10.0.0.1 # the last\n");
  REQUIRE(configs.size() == 3);
  CHECK(configs[0].name == "a");
  CHECK(configs[0].port_state.mtu == IBV_MTU_1024);
  CHECK(format_address(configs[0].addresses.at(0)) == "127.0.0.9");
  CHECK(configs[1].name == "b");
  REQUIRE(configs[2].addresses.size() == 2);
  CHECK(format_address(configs[2].addresses[0]) == "::1");
}

TEST_CASE("every option is read") {
  const auto config = read_devices(
      "d,link=udp,max_qp=7,max_cqe=9,max_msg_size=65536,capture=/tmp/%d-%p.pcapng,capture_limit=1000,snap=64,"
      "drop=0.02,duplicate=0.5,reorder=1,corrupt=0,truncate=0.25,delay=10,jitter=3,seed=42,direction=both,strict=1,"
      "gids=rxe")[0];
  CHECK(config.rules.strict);
  CHECK(config.gid_shape == nic::GidShape::kRxe);
  CHECK(config.reach == Reach::kUdp);
  CHECK(config.limits.max_qp == 7);
  CHECK(config.limits.max_cqe == 9);
  CHECK(config.limits.max_msg_size == 65536);
  CHECK(config.capture.path == "/tmp/%d-%p.pcapng");
  CHECK(config.capture.max_bytes == 1000);
  CHECK(config.capture.snap_length == 64);
  CHECK(config.faults.drop == 0.02);
  CHECK(config.faults.duplicate == 0.5);
  CHECK(config.faults.reorder == 1);
  CHECK(config.faults.truncate == 0.25);
  CHECK(config.faults.delay == 10'000);
  CHECK(config.faults.jitter == 3'000);
  CHECK(config.faults.seed == 42);
  CHECK(config.faults.direction == link::FaultDirection::kBoth);
}

TEST_CASE("an error names the device, the key, the value and the allowed values") {
  struct Wrong {
    const char* text;
    const char* parts[3];
  };
  const Wrong wrongs[] = {
      {"d,mtu=1500", {"device d", "mtu=1500", "256, 512, 1024, 2048 or 4096"}},
      {"d,colour=red", {"device d", "colour", "max_qp"}},
      {"d,addr=example", {"device d", "addr=example", "IPv4 or IPv6"}},
      {"d,addr=0.0.0.0", {"device d", "addr=0.0.0.0", "IPv4 or IPv6"}},
      {"d,addr=224.0.0.1", {"device d", "addr=224.0.0.1", "IPv4 or IPv6"}},
      {"d,addr=127.0.0.1,addr=127.0.0.1", {"device d", "addr=127.0.0.1", "twice"}},
      {"d,drop=2", {"device d", "drop=2", "0 to 1"}},
      {"d,drop=nan", {"device d", "drop=nan", "0 to 1"}},
      {"d,delay=-1", {"device d", "delay=-1", "0 to 10000000"}},
      {"d,seed=x", {"device d", "seed=x", "whole number"}},
      {"d,max_qp=0", {"device d", "max_qp=0", "from 1"}},
      {"d,ports=64", {"device d", "ports=64", "1 to 63"}},
      {"d,ports=2,addr=127.0.0.1", {"device d", "addr", "2 ports"}},
      {"d,link=ether", {"device d", "link=ether", "auto, shm, udp or process"}},
      {"d,mtu", {"device d", "mtu", "key=value"}},
      {"d,capture=", {"device d", "capture=", "not empty"}},
      {"mtu=1024", {"mtu=1024", "device name", "begins with its name"}},
      {"a/b", {"a/b", "device name", "letters"}},
      {"a;a", {"device a", "twice", "own name"}},
  };
  for (const Wrong& wrong : wrongs) {
    CAPTURE(wrong.text);
    const std::string error = error_of(wrong.text);
    CAPTURE(error);
    for (const char* part : wrong.parts) CHECK(has(error, part));
  }
}

TEST_CASE("foreign peers are other hosts, addresses, networks, all or none") {
  const auto address = [](const char* text) { return parse_address(text).value(); };
  CHECK(read_devices("d")[0].foreign->are_other_hosts());
  for (const char* given : {"d,foreign=none", "d,foreign=10.0.0.7,foreign=none", "d,foreign=10.0.0.7"}) {
    CAPTURE(given);
    CHECK_FALSE(read_devices(given)[0].foreign->are_other_hosts());
    CHECK_FALSE(read_devices(given)[0].foreign->contains(address("10.0.0.8")));
  }
  const auto peers = read_devices("d,foreign=10.0.0.7|fd00::/64,foreign=192.168.4.0/22")[0].foreign;
  REQUIRE(peers != nullptr);
  for (const char* text : {"10.0.0.7", "fd00::1", "fd00::ffff:0:0:1", "192.168.4.0", "192.168.7.255"}) {
    CAPTURE(text);
    CHECK(peers->contains(address(text)));
  }
  for (const char* text : {"10.0.0.8", "fd00:0:0:1::1", "192.168.8.0", "192.168.3.255", "::a00:7"}) {
    CAPTURE(text);
    CHECK_FALSE(peers->contains(address(text)));
  }
  for (const char* all : {"*", "0.0.0.0/0|::/0"}) {
    const auto everybody = read_devices(std::string("d,foreign=") + all)[0].foreign;
    CHECK(everybody->contains(address("10.9.8.7")));
    CHECK(everybody->contains(address("2001:db8::1")));
  }
  CHECK_FALSE(read_devices("d,foreign=0.0.0.0/0")[0].foreign->contains(address("2001:db8::1")));
  for (const char* wrong : {"", "10.0.0.0/33", "10.0.0.1/24", "fd00::/129", "10.0.0.0/", "10.0.0.0/-1", "host",
                            "10.0.0.1|", "10.0.0.0/24/3", "fd00::1/64", "**"}) {
    CAPTURE(wrong);
    CHECK(has(error_of(std::string("d,foreign=") + wrong), "10.0.0.0/24"));
  }
}

TEST_CASE("a value may hold the separators as escapes") {
  const auto config = read_devices("d,capture=/tmp/a%2Cb%3bc%23d%25p.pcapng")[0];
  CHECK(config.capture.path == "/tmp/a,b;c#d%p.pcapng");
}

TEST_CASE("options that only a model knows are kept for it") {
  const auto config = read_devices("h,profile=gaudi,kind=hbl,ports=4")[0];
  CHECK(config.ports == 4);
  REQUIRE(config.model_options.size() == 1);
  CHECK(config.model_options[0] == std::pair<std::string, std::string>("profile", "gaudi"));
}

TEST_CASE("profile= names whose rules a device has; a device with a model has those of the model") {
  CHECK(read_devices("s")[0].rules.slots_until_polled);
  CHECK(read_devices("s,profile=mlx5")[0].rules.slots_until_polled);
  CHECK_FALSE(read_devices("s,profile=rxe")[0].rules.slots_until_polled);
  CHECK_FALSE(read_devices("h,kind=hbl,slots=executed")[0].rules.slots_until_polled);
  CHECK(error_of("s,slots=free").find("polled or executed") != std::string::npos);
  CHECK(error_of("s,profile=cx7").find("mlx5 or rxe") != std::string::npos);
}

TEST_CASE("a model's defaults come before the device's own options") {
  std::vector<DeviceText> devices;
  REQUIRE(split_configuration("m,kind=mlx5,mtu=1024", &devices) == "");
  DeviceConfig config;
  REQUIRE(read_device(devices[0], "ports=2,mtu=2048", &config) == "");
  CHECK(config.ports == 2);
  CHECK(config.port_state.mtu == IBV_MTU_1024);
}

TEST_CASE("a capture path names the process and the device") {
  CHECK(capture_path("/tmp/%d.%p.%x%", "soft0") == "/tmp/soft0." + std::to_string(getpid()) + ".%x%");
}

TEST_CASE("a fault plan alone") {
  link::FaultPlan plan;
  CHECK(read_faults("drop=0.5,seed=9", &plan) == "");
  CHECK(plan.drop == 0.5);
  CHECK(plan.seed == 9);
  CHECK(read_faults("", &plan) == "");
  CHECK(plan.drop == 0);
  CHECK(has(read_faults("mtu=1024", &plan), "drop, duplicate"));
}

TEST_CASE("rules of a fault plan") {
  const auto plan =
      read_devices(
          "d,drop=0.5,seed=3,fault=drop:opcode=rc_send_only|0x11:nth=3,fault=delay=20:duplicate=0.25:direction=both:"
          "qpn=0x11:psn=0xfffff0-15:aeth=nak:every=2:count=9:probability=0.125,fault=bytes_per_second=1000000")[0]
          .faults;
  CHECK(plan.drop == 0.5);
  CHECK(plan.text == "drop=0.5");
  CHECK(plan.seed == 3);
  REQUIRE(plan.rules.size() == 3);
  const link::FaultRule& third_send = plan.rules[0];
  CHECK(third_send.text == "drop:opcode=rc_send_only|0x11:nth=3");
  CHECK(third_send.drop == 1);
  CHECK(third_send.nth == 3);
  CHECK(third_send.opcodes->count() == 2);
  CHECK(third_send.opcodes->test(0x04));
  CHECK(third_send.opcodes->test(0x11));
  const link::FaultRule& second = plan.rules[1];
  CHECK(second.delay == 20'000);
  CHECK(second.duplicate == 0.25);
  CHECK(second.direction == link::FaultDirection::kBoth);
  CHECK(second.qpn == 17);
  CHECK(second.psn->first == 0xfffff0);
  CHECK(second.psn->last == 15);
  CHECK(second.aeth == link::AethKind::kNak);
  CHECK(second.every == 2);
  CHECK(second.count == 9);
  CHECK(second.probability == 0.125);
  CHECK(plan.rules[2].bytes_per_second == 1'000'000);
}

TEST_CASE("the error of a rule names its text and the allowed values") {
  struct Wrong {
    const char* rule;
    const char* parts[2];
  };
  const Wrong wrongs[] = {
      {"nth=3", {"fault=nth=3", "drop, duplicate"}},      {"drop:opcode=send", {"opcode=send", "rc_send_only"}},
      {"drop:opcode=256", {"opcode=256", "0 to 255"}},    {"drop:colour=red", {"colour", "opcode, qpn, psn"}},
      {"drop:nth", {"nth needs a value", "fault="}},      {"drop:nth=0", {"nth=0", "from 1"}},
      {"drop:qpn=0x1000000", {"qpn=0x1", "0xffffff"}},    {"drop:psn=1-2-3", {"psn=1-2-3", "two with -"}},
      {"drop:aeth=maybe", {"aeth=maybe", "ack, rnr or"}}, {"drop=1.5", {"drop=1.5", "0 to 1"}},
      {"drop::nth=1", {"\"\" is unknown", "there are"}},  {"", {"fault=", "unknown"}},
  };
  for (const Wrong& wrong : wrongs) {
    const std::string error = error_of(std::string("d,fault=") + wrong.rule);
    CAPTURE(wrong.rule);
    CAPTURE(error);
    CHECK(has(error, "device d"));
    for (const char* part : wrong.parts) CHECK(has(error, part));
  }
}

TEST_CASE("a value with a slash in front of its options is the path of a file") {
  char path[] = "/tmp/verbs-soft-configuration-XXXXXX";
  const int fd = mkstemp(path);
  REQUIRE(fd >= 0);
  close(fd);
  std::ofstream(path) << "from_file # here\n";
  std::string text;
  CHECK(load_text(path, &text) == "");
  CHECK(read_devices(text)[0].name == "from_file");
  std::ofstream(path, std::ios::trunc).close();
  CHECK(load_text(path, &text) == "");
  CHECK(text == "");
  unlink(path);
  CHECK(has(load_text(path, &text), "cannot be read"));
  CHECK(has(load_text("/tmp", &text), "cannot be read"));
  CHECK(load_text("soft0,capture=/tmp/x", &text) == "");
  CHECK(text == "soft0,capture=/tmp/x");
}

TEST_CASE("the options of every device come behind each device's own, and those of all entries count") {
  const auto configs = read_devices("a,mtu=1024,ports=2;*,mtu=2048;b;*,snap=64 # at any place");
  REQUIRE(configs.size() == 2);
  CHECK(configs[0].port_state.mtu == IBV_MTU_2048);
  CHECK(configs[0].ports == 2);
  CHECK(configs[1].port_state.mtu == IBV_MTU_2048);
  for (const DeviceConfig& config : configs) CHECK(config.capture.snap_length == 64);
  const auto alone = read_devices("*,mtu=512");
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].name == "soft0");
  CHECK(alone[0].port_state.mtu == IBV_MTU_512);
  CHECK(has(error_of("a;*,nonsense"), "every device (*): \"nonsense\" is not an option"));
  CHECK(has(error_of("a;*,mtu=5"), "device a"));
  std::vector<DeviceText> devices;
  OptionTexts every;
  REQUIRE(split_configuration("a;*,mtu=512,snap=1", &devices, &every) == "");
  CHECK(every == OptionTexts{{"mtu", "512"}, {"snap", "1"}});
}
