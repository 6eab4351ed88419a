// The function of verbs_soft.h for the files of a device in /sys.
#include "host/control/with_device.h"
#include "host/devices/sysfs.h"
#include "verbs_soft.h"

using namespace verbs::soft::host;

extern "C" int verbs_soft_sysfs(const char* name, verbs_soft_sysfs_file file, void* data) {
  return with_device(name, [&](Device& device) {
    visit_sysfs(device, [&](const std::string& path, const std::string& content) {
      file(data, path.c_str(), content.c_str());
    });
    return 0;
  });
}
