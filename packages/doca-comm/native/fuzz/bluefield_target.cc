// The options of a device of kind "doca", one a line: accepted options describe a consistent BlueField.
#include <cstring>
#include <map>
#include <string>

#include "fuzz/check.h"
#include "fuzz/input.h"
#include "model/base/text.h"
#include "model/bluefield/options.h"

using namespace verbs::doca_comm::model;

namespace {

std::map<std::string, std::string> values;

const char* option(const ibv_device*, const char* key) {
  const auto found = values.find(key);
  return found == values.end() ? nullptr : found->second.c_str();
}

void check_pci(const std::string& pci) {
  FUZZ_CHECK(full_pci(pci) == pci);
  FUZZ_CHECK(full_pci(pci.substr(0, 5) == "0000:" ? pci.substr(5) : pci) == pci);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  values.clear();
  for (const std::string& line : split(std::string(reinterpret_cast<const char*>(data), size), '\n')) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) values[line.substr(0, equals)] = line.substr(equals + 1);
  }
  verbs_soft_extension_table extension{};
  extension.device_option = option;
  Options options;
  if (!read_options(extension, nullptr, &options)) return 0;
  check_pci(options.pci);
  for (const RepresentorOptions& representor : options.representors) check_pci(representor.pci);
  FUZZ_CHECK(options.dpu || options.representors.empty());
  FUZZ_CHECK(options.max_connections >= 1 && options.max_per_client >= 1);
  FUZZ_CHECK(options.max_per_client <= options.max_connections);
  return 0;
}
