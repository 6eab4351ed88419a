#include "model/bluefield/options.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>

#include "model/base/text.h"

namespace verbs::doca_comm::model {

namespace {

constexpr std::uint32_t kMostConnections = 4096;

std::optional<Gid> parse_address(const std::string& text) {
  Gid gid{};
  if (inet_pton(AF_INET6, text.c_str(), gid.data()) == 1) return gid;
  gid = {};
  gid[10] = gid[11] = 0xff;
  if (inet_pton(AF_INET, text.c_str(), gid.data() + 12) == 1) return gid;
  return std::nullopt;
}

bool read_representors(const std::string& text, std::vector<RepresentorOptions>* representors) {
  for (const std::string& part : split(text, '|')) {
    const std::vector<std::string> halves = split(part, '@');
    RepresentorOptions representor{.pci = full_pci(halves[0]), .host = {}};
    if (representor.pci.empty() || halves.size() > 2) return false;
    if (halves.size() == 2 && !(representor.host = parse_address(halves[1]))) return false;
    for (const RepresentorOptions& other : *representors) {
      if (other.pci == representor.pci) return false;
    }
    representors->push_back(std::move(representor));
  }
  return true;
}

bool read_number(const std::string& text, std::uint32_t most, std::uint32_t* number) {
  return parse_number(text, number) && *number >= 1 && *number <= most;
}

// The default of max_per_client: an eighth of the connections is left to other addresses.
std::uint32_t default_share(std::uint32_t connections) {
  return connections == 1 ? 1 : connections - std::max(1u, connections / 8);
}

}  // namespace

std::string full_pci(const std::string& text) {
  constexpr std::size_t kShort = 7, kFull = 12;
  std::string pci = text.size() == kShort ? "0000:" + text : text;
  if (pci.size() != kFull) return {};
  static constexpr char kShape[] = "xxxx:xx:xx.x";
  for (std::size_t i = 0; i < kFull; ++i) {
    pci[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(pci[i])));
    const bool digit = std::isxdigit(static_cast<unsigned char>(pci[i])) != 0;
    if (kShape[i] == 'x' ? !digit : pci[i] != kShape[i]) return {};
  }
  return pci;
}

bool read_options(const verbs_soft_extension_table& extension, const ibv_device* device, Options* options) {
  const auto option = [&](const char* key, const char* otherwise) {
    const char* value = extension.device_option(device, key);
    return std::string(value ? value : otherwise);
  };
  const std::string role = option("role", "host");
  if (role != "host" && role != "dpu") return false;
  options->dpu = role == "dpu";
  options->pci = full_pci(option("pci", options->dpu ? "5f5f:03:00.0" : "5f5f:3b:00.0"));
  if (options->pci.empty()) return false;
  if (options->dpu && !read_representors(option("reps", "5f5f:3b:00.0"), &options->representors)) return false;
  const std::string dpu = option("dpu", "");
  if (!dpu.empty() && !(options->dpu_address = parse_address(dpu))) return false;
  return read_number(option("max_connections", "512"), kMostConnections, &options->max_connections) &&
         read_number(option("max_per_client", std::to_string(default_share(options->max_connections)).c_str()),
                     options->max_connections, &options->max_per_client);
}

}  // namespace verbs::doca_comm::model
