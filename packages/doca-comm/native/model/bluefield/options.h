// The options of a device of kind "doca"; model.h says what they mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/base/gid.h"
#include "verbs_soft_extension.h"

namespace verbs::doca_comm::model {

struct RepresentorOptions {
  std::string pci;
  std::optional<Gid> host;  // accepts clients of another host, from this address only
};

struct Options {
  bool dpu = false;
  std::string pci;
  std::vector<RepresentorOptions> representors;
  std::optional<Gid> dpu_address;
  std::uint32_t max_connections = 512;  // clients of a service
  std::uint32_t max_per_client = 0;     // of them, with the same address
};

// The full form of a PCI address ("5f5f:3b:00.0") in lower case. Empty if the text is no PCI address.
std::string full_pci(const std::string& text);

// False if an option is invalid.
bool read_options(const verbs_soft_extension_table& extension, const ibv_device* device, Options* options);

}  // namespace verbs::doca_comm::model
