#include <stdio.h>
#include <string.h>

#include "hbl-twin/hbl.h"

static const struct hbl_scenario *const all[] = {device_scenarios_of_hbl, resource_scenarios_of_hbl,
                                                 queue_scenarios_of_hbl, refusal_scenarios_of_hbl};

int main(int argc, char **argv) {
  struct ibv_device **list = argc == 2 ? ibv_get_device_list(NULL) : NULL;
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) {
    for (const struct hbl_scenario *scenario = all[i]; scenario->name != NULL; ++scenario) {
      if (argc != 2) {
        puts(scenario->name);
      } else if (strcmp(scenario->name, argv[1]) == 0) {
        REQUIRE(list != NULL && list[0] != NULL && hbldv_is_supported(list[0]));
        scenario->run(list[0]);
        return 0;
      }
    }
  }
  return argc == 2 ? 2 : 0;
}
