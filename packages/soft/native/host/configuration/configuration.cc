#include "host/configuration/configuration.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "host/configuration/fault_option.h"
#include "host/configuration/option.h"

namespace verbs::soft::host {
namespace {

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    parts.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// A comment runs from a '#' at the start or after a blank to the end of the line.
std::string without_comments(std::string_view text) {
  std::string result;
  bool comment = false;
  char previous = '\n';
  for (const char c : text) {
    if (c == '\n') comment = false;
    if (c == '#' && std::strchr(" \t\n;", previous)) comment = true;
    if (!comment) result += c;
    previous = c;
  }
  return result;
}

std::string decode(std::string_view value) {
  static constexpr std::pair<const char*, char> kEscapes[] = {{"%2C", ','}, {"%2c", ','}, {"%3B", ';'},
                                                              {"%3b", ';'}, {"%23", '#'}, {"%25", '%'}};
  std::string result;
  while (!value.empty()) {
    const auto escape = std::find_if(std::begin(kEscapes), std::end(kEscapes),
                                     [&](const auto& entry) { return value.substr(0, 3) == entry.first; });
    result += escape == std::end(kEscapes) ? value[0] : escape->second;
    value.remove_prefix(escape == std::end(kEscapes) ? 1 : 3);
  }
  return result;
}

// As in the kernel: at most 63 characters, and valid as the name of a folder.
bool is_device_name(std::string_view name) {
  const auto allowed = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("_-.", c); };
  return !name.empty() && name.size() < IBV_SYSFS_NAME_MAX && std::all_of(name.begin(), name.end(), allowed) &&
         name != "." && name != "..";
}

std::string split_options(std::string_view where, const std::vector<std::string_view>& parts, std::size_t first,
                          OptionTexts* options) {
  for (std::size_t i = first; i < parts.size(); ++i) {
    if (parts[i].empty()) continue;
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return std::string(where) + ": \"" + std::string(parts[i]) + "\" is not an option; options are key=value";
    }
    options->emplace_back(std::string(trim(parts[i].substr(0, equals))), decode(trim(parts[i].substr(equals + 1))));
  }
  return {};
}

constexpr std::string_view kEveryDevice = "*";

std::string split_device(std::string_view entry, std::vector<DeviceText>* devices, OptionTexts* every) {
  const auto parts = split_at(entry, ",");
  if (parts[0] == kEveryDevice) return split_options("every device (*)", parts, 1, every);
  DeviceText device;
  device.name = parts[0];
  if (!is_device_name(device.name)) {
    return "\"" + device.name + "\" is not a device name: a device's text begins with its name, up to 63 letters, " +
           "digits and the characters _ - . (for example \"soft0,mtu=1024\")";
  }
  const auto same = [&](const DeviceText& other) { return other.name == device.name; };
  if (std::any_of(devices->begin(), devices->end(), same)) {
    return "device " + device.name + " is configured twice; each device needs its own name";
  }
  std::string error = split_options("device " + device.name, parts, 1, &device.options);
  if (error.empty()) devices->push_back(std::move(device));
  return error;
}

std::string check_tap(const DeviceConfig& config) {
  if (config.tap.empty() || config.ports == 1) return {};
  return "device " + config.name + ": tap= is for devices with one port, and this one has " +
         std::to_string(config.ports);
}

std::string check_addresses(const DeviceConfig& config) {
  if (config.addresses.size() % static_cast<std::size_t>(config.ports) == 0) return {};
  return "device " + config.name + ": addr is given " + std::to_string(config.addresses.size()) + " times for " +
         std::to_string(config.ports) + " ports; give none, or the same number for every port (port 1's first)";
}

}  // namespace

std::string split_configuration(std::string_view text, std::vector<DeviceText>* devices, OptionTexts* every) {
  devices->clear();
  OptionTexts for_every;
  const std::string clean = without_comments(text);
  for (const std::string_view entry : split_at(clean, ";\n")) {
    if (entry.empty()) continue;
    std::string error = split_device(entry, devices, &for_every);
    if (!error.empty()) return error;
  }
  if (devices->empty()) devices->push_back({kDefaultConfiguration, {}});
  for (DeviceText& device : *devices) device.options.insert(device.options.end(), for_every.begin(), for_every.end());
  if (every) *every = std::move(for_every);
  return {};
}

std::string read_device(const DeviceText& text, std::string_view defaults, DeviceConfig* config) {
  *config = DeviceConfig{};
  config->name = text.name;
  if (const char* link = std::getenv("VERBS_SOFT_LINK"); link != nullptr && *link != '\0') {
    const std::string wrong = apply_option("link", link, config);
    if (!wrong.empty()) return "VERBS_SOFT_LINK: " + wrong;
  }
  OptionTexts options;
  std::string error = split_options("defaults of " + text.name, split_at(defaults, ","), 0, &options);
  if (!error.empty()) return error;
  options.insert(options.end(), text.options.begin(), text.options.end());
  for (const auto& [key, value] : options) {
    if (key == "kind") config->kind = value;  // decides which other options are known
  }
  for (const auto& [key, value] : options) {
    error = apply_option(key, value, config);
    if (!error.empty()) return "device " + text.name + ": " + error;
  }
  config->port_states.assign(static_cast<std::size_t>(config->ports), config->port_state);
  error = check_tap(*config);
  return error.empty() ? check_addresses(*config) : error;
}

std::string read_faults(std::string_view text, link::FaultPlan* plan) {
  OptionTexts options;
  std::string error = split_options("faults", split_at(text, ","), 0, &options);
  if (!error.empty()) return error;
  *plan = link::FaultPlan{};
  for (const auto& [key, value] : options) {
    error =
        apply_fault_option(key, value, plan).value_or("unknown option " + key + "; there are " + fault_option_keys());
    if (!error.empty()) return "faults: " + error;
  }
  return {};
}

std::string load_text(std::string_view value, std::string* text) {
  *text = value;
  const std::string_view head = value.substr(0, value.find_first_of(",;=\n"));
  if (head.find('/') == std::string_view::npos) return {};
  std::ifstream file(*text);
  if (!file.is_open() || (file.peek(), file.bad())) {  // a directory opens, but cannot be read
    return "the configuration file " + *text + " cannot be read: " + std::strerror(errno);
  }
  std::ostringstream content;
  if (file.good()) content << file.rdbuf();
  *text = content.str();
  return {};
}

std::string capture_path(const std::string& pattern, const std::string& device) {
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (next == 'p') {
      path += std::to_string(getpid());
    } else if (next == 'd') {
      path += device;
    } else {
      path += pattern[i];
      continue;
    }
    ++i;
  }
  return path;
}

std::optional<wire::Gid> parse_address(std::string_view text) {
  const std::string copy(text);
  std::uint8_t raw[16];
  if (inet_pton(AF_INET, copy.c_str(), raw) == 1) return wire::Gid::from_ipv4(raw);
  if (inet_pton(AF_INET6, copy.c_str(), raw) == 1) return wire::Gid::from_bytes(raw);
  return std::nullopt;
}

std::optional<link::Network> parse_network(std::string_view text) {
  if (text == "*") return link::Network{.address = {}, .length = 0};
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto address = parse_address(text.substr(0, slash));
  if (!address) return std::nullopt;
  link::Network network{.address = *address};
  if (slash == text.size()) return network;
  constexpr unsigned kMapped = 96, kIpv6 = 128;
  const unsigned before = text.find(':') == std::string_view::npos ? kMapped : 0;
  const auto length = parse_number<unsigned>(std::string(text.substr(slash + 1)));
  if (!length || *length > kIpv6 - before) return std::nullopt;
  network.length = static_cast<std::uint8_t>(before + *length);
  for (unsigned bit = network.length; bit < kIpv6; ++bit) {
    if ((address->bytes[bit / 8] >> (7 - bit % 8) & 1) != 0) return std::nullopt;
  }
  return network;
}

std::string format_address(const wire::Gid& gid) {
  char text[INET6_ADDRSTRLEN] = "";
  if (gid.is_ipv4()) {
    inet_ntop(AF_INET, gid.ipv4(), text, sizeof text);
  } else {
    inet_ntop(AF_INET6, gid.bytes.data(), text, sizeof text);
  }
  return text;
}

bool is_unicast(const wire::Gid& gid) {
  static constexpr std::uint8_t kAny[4] = {};
  return !gid.is_zero() && !gid.is_multicast() && gid != wire::Gid::from_ipv4(kAny);
}

wire::Gid loopback_address(int n) {
  const std::uint8_t raw[4] = {127, 0, 0, static_cast<std::uint8_t>(n)};
  return wire::Gid::from_ipv4(raw);
}

}  // namespace verbs::soft::host
