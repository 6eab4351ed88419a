#include "twin/twin.h"

static void removal(struct ibv_context *context) {
  (void)make_fixture(context, IBV_QPT_RC);
  control("remove");
  struct ibv_async_event event;
  REQUIRE(ibv_get_async_event(context, &event) == 0);
  saw("event %d", event.event_type);
  ibv_ack_async_event(&event);
  saw("a new protection domain: %d", ibv_alloc_pd(context) != NULL);
}

const struct scenario removal_scenarios[] = {
    {"removal", removal},
    {NULL, NULL},
};
