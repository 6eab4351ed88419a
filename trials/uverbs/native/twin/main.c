#include <stdio.h>
#include <string.h>

#include "twin/twin.h"

static const struct scenario *const all[] = {device_scenarios,  memory_scenarios,   queue_scenarios,
                                             posting_scenarios, steering_scenarios, extended_scenarios,
                                             removal_scenarios};

static struct ibv_context *open_device(void) {
  struct ibv_device **list = ibv_get_device_list(NULL);
  REQUIRE(list != NULL && list[0] != NULL);
  struct ibv_context *context = ibv_open_device(list[0]);
  REQUIRE(context != NULL);
  ibv_free_device_list(list);
  return context;
}

static const struct scenario *find(const char *name) {
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) {
    for (const struct scenario *scenario = all[i]; scenario->name != NULL; ++scenario) {
      if (strcmp(scenario->name, name) == 0) return scenario;
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) {
      for (const struct scenario *scenario = all[i]; scenario->name != NULL; ++scenario) puts(scenario->name);
    }
    return 0;
  }
  const struct scenario *scenario = find(argv[1]);
  if (scenario == NULL) {
    fprintf(stderr, "there is no scenario %s\n", argv[1]);
    return 2;
  }
  struct ibv_context *context = open_device();
  scenario->run(context);
  REQUIRE(ibv_close_device(context) == 0);
  return 0;
}
