// The configuration text: it is accepted, or rejected with an explanation, and an accepted one keeps its limits.
#include <algorithm>
#include <string>

#include "fuzz/check.h"
#include "fuzz/input.h"
#include "host/configuration/configuration.h"

using namespace verbs::soft;
using namespace verbs::soft::fuzz;

namespace {

void check_device(const host::DeviceConfig& config) {
  FUZZ_CHECK(!config.name.empty() && config.name.find('/') == std::string::npos);
  FUZZ_CHECK(config.ports >= 1 && config.ports <= 64);
  FUZZ_CHECK(config.addresses.size() % static_cast<std::size_t>(config.ports) == 0);
  FUZZ_CHECK(config.port_state.mtu >= IBV_MTU_256 && config.port_state.mtu <= IBV_MTU_4096);
  FUZZ_CHECK(config.limits.max_qp >= 1 && config.limits.max_cqe >= 1 && config.limits.max_mr >= 1);
  // A capture's path names the device and the process where it is asked to, and only there.
  const std::string path = host::capture_path(config.capture.path, config.name);
  FUZZ_CHECK(config.capture.path.find('%') != std::string::npos || path == config.capture.path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const bool with_defaults = input.one_in(2);
  const std::string_view text = input.text();
  std::vector<host::DeviceText> devices;
  const std::string error = host::split_configuration(text, &devices);
  FUZZ_CHECK(error.empty() ? !devices.empty() : error.size() > 10);
  for (const host::DeviceText& device : devices) {
    host::DeviceConfig config;
    const std::string wrong = host::read_device(device, with_defaults ? "mtu=1024,ports=2" : "", &config);
    if (wrong.empty()) {
      check_device(config);
    } else {
      FUZZ_CHECK(wrong.find(device.name) != std::string::npos);
    }
  }
  // A value without a slash is the text itself: no file is opened for it.
  if (text.find('/') == std::string_view::npos) {
    std::string loaded;
    FUZZ_CHECK(host::load_text(text, &loaded).empty() && loaded == text);
  }
  return 0;
}
