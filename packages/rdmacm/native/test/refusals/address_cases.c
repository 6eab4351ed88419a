/* Binding, and resolving addresses and routes. */
#include <unistd.h>

#include "case.h"

static void bind_nothing(void) {
  struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
  TRY(rdma_bind_addr(id, NULL));
}

static void bind_no_id(void) { TRY(rdma_bind_addr(NULL, own4(0))); }

static void bind_addresses(void) {
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), no_ip()));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), foreign4(0)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), foreign6(0)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), group4()));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), ipv4("255.255.255.255", 0)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), ipv4("0.0.0.0", 0)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), ipv6("::", 0)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), own6(0)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_UDP), own4(0)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_IPOIB), own4(0)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_IB), own4(0)));
}

static void bind_twice(void) {
  struct rdma_cm_id *id = bound_id(RDMA_PS_TCP, own4(0));
  TRY(rdma_bind_addr(id, own4(0)));
  TRY(rdma_bind_addr(listening_id(RDMA_PS_TCP, 0), own4(0)));
  TRY(rdma_bind_addr(address_resolved_id(RDMA_PS_TCP, 7000), own4(0)));
}

static void port_in_use(void) {
  bound_id(RDMA_PS_TCP, own4(7471));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), own4(7471)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), ipv4("0.0.0.0", 7471)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), ipv6("::", 7471)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), own6(7471)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_UDP), own4(7471)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), own4(7472)));
}

static void port_in_use_by_any(void) {
  bound_id(RDMA_PS_TCP, ipv4("0.0.0.0", 7471));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), own4(7471)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), own6(7471)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), ipv6("::", 7471)));
}

static void port_in_use_by_any6(void) {
  bound_id(RDMA_PS_TCP, ipv6("::", 7471));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), own4(7471)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), ipv4("0.0.0.0", 7471)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), own6(7471)));
}

static int set_int(struct rdma_cm_id *id, int name, int value) {
  return rdma_set_option(id, RDMA_OPTION_ID, name, &value, sizeof value);
}

static void port_of_one_family(void) {
  struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
  MUST(set_int(id, RDMA_OPTION_ID_AFONLY, 1));
  MUST(rdma_bind_addr(id, ipv6("::", 7471)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), own4(7471)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), own6(7471)));
}

static void port_shared(void) {
  struct rdma_cm_id *one = new_id(RDMA_PS_TCP), *other = new_id(RDMA_PS_TCP), *third = new_id(RDMA_PS_TCP);
  MUST(set_int(one, RDMA_OPTION_ID_REUSEADDR, 1));
  MUST(set_int(other, RDMA_OPTION_ID_REUSEADDR, 1));
  TRY(rdma_bind_addr(one, own4(7471)));
  TRY(rdma_bind_addr(other, own4(7471)));
  TRY(rdma_bind_addr(third, own4(7471)));
  TRY(rdma_listen(one, 1));
  TRY(rdma_listen(other, 1));
}

static void port_reused_late(void) {
  struct rdma_cm_id *one = new_id(RDMA_PS_TCP), *other = new_id(RDMA_PS_TCP);
  MUST(set_int(one, RDMA_OPTION_ID_REUSEADDR, 1));
  MUST(set_int(other, RDMA_OPTION_ID_REUSEADDR, 1));
  MUST(rdma_bind_addr(one, own4(7471)));
  MUST(rdma_listen(one, 1));
  TRY(rdma_bind_addr(other, own4(7471)));
}

static void port_given_back(void) {
  struct rdma_cm_id *id = bound_id(RDMA_PS_TCP, own4(7471));
  MUST(rdma_destroy_id(id));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), own4(7471)));
}

/* A privileged port, of a process without privileges. */
static void privileged_port(void) {
  MUST(getuid() == 0 ? setuid(65534) : 0);
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), own4(81)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), own6(1023)));
  TRY(rdma_bind_addr(new_id(RDMA_PS_TCP), own4(1024)));
}

static void resolve_nothing(void) {
  struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
  TRY(rdma_resolve_addr(id, NULL, NULL, 1000));
}

static void resolve_no_id(void) { TRY(rdma_resolve_addr(NULL, NULL, own4(7000), 1000)); }

static void resolve_addresses(void) {
  TRY(rdma_resolve_addr(new_id(RDMA_PS_TCP), NULL, no_ip(), 1000));
  TRY(rdma_resolve_addr(new_id(RDMA_PS_TCP), no_ip(), own4(7000), 1000));
  TRY(rdma_resolve_addr(new_id(RDMA_PS_TCP), foreign4(0), own4(7000), 1000));
  TRY(rdma_resolve_addr(new_id(RDMA_PS_TCP), own6(0), own4(7000), 1000));
  TRY(rdma_resolve_addr(new_id(RDMA_PS_TCP), own4(0), own6(7000), 1000));
  TRY(rdma_resolve_addr(bound_id(RDMA_PS_TCP, own4(0)), NULL, own6(7000), 1000));
}

static void resolve_timeouts(void) {
  struct rdma_cm_id *none = new_id(RDMA_PS_TCP), *negative = new_id(RDMA_PS_TCP);
  TRY(rdma_resolve_addr(none, NULL, own4(7000), 0));
  see(none);
  TRY(rdma_resolve_addr(negative, NULL, own4(7000), -1));
  see(negative);
  TRY(rdma_resolve_route(none, 0));
  TRY(rdma_resolve_route(none, 1000));
  see(none);
  TRY(rdma_resolve_route(negative, -1));
  see(negative);
}

static void resolve_sources(void) {
  struct rdma_cm_id *given = new_id(RDMA_PS_TCP), *bound = bound_id(RDMA_PS_TCP, own4(0)), *any = new_id(RDMA_PS_TCP),
                    *six = new_id(RDMA_PS_TCP), *taken = new_id(RDMA_PS_TCP);
  TRY(rdma_resolve_addr(given, own4(0), own4(7000), 1000));
  see(given);
  TRY(rdma_resolve_addr(bound, own4(0), own4(7000), 1000));
  see(bound);
  TRY(rdma_resolve_addr(any, ipv4("0.0.0.0", 0), own4(7000), 1000));
  see(any);
  TRY(rdma_resolve_addr(six, own6(0), own6(7000), 1000));
  see(six);
  bound_id(RDMA_PS_TCP, own4(7471));
  TRY(rdma_resolve_addr(taken, own4(7471), own4(7000), 1000));
}

static void resolve_again(void) {
  struct rdma_cm_id *id = address_resolved_id(RDMA_PS_TCP, 7000);
  TRY(rdma_resolve_addr(id, NULL, own4(7000), 1000));
  TRY(rdma_resolve_addr(route_resolved_id(RDMA_PS_TCP, 7000), NULL, own4(7000), 1000));
  TRY(rdma_resolve_addr(listening_id(RDMA_PS_TCP, 0), NULL, own4(7000), 1000));
  TRY(rdma_resolve_addr(connected().client, NULL, own4(7000), 1000));
}

static void route_idle(void) { TRY(rdma_resolve_route(new_id(RDMA_PS_TCP), 1000)); }

static void route_any(void) { TRY(rdma_resolve_route(bound_id(RDMA_PS_TCP, ipv4("0.0.0.0", 0)), 1000)); }

static void route_too_early(void) {
  TRY(rdma_resolve_route(bound_id(RDMA_PS_TCP, own4(0)), 1000));
  TRY(rdma_resolve_route(listening_id(RDMA_PS_TCP, 0), 1000));
}

static void route_again(void) {
  struct rdma_cm_id *id = route_resolved_id(RDMA_PS_TCP, 7000);
  TRY(rdma_resolve_route(id, 1000));
  TRY(rdma_resolve_route(connected().client, 1000));
}

static void route_no_id(void) { TRY(rdma_resolve_route(NULL, 1000)); }

/* A synchronous identifier tells an error by the call. */
static void synchronous(void) {
  struct rdma_cm_id *id = NULL;
  MUST(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
  TRY(rdma_resolve_addr(id, NULL, own4(7000), 1000));
  TRY(rdma_resolve_route(id, 1000));
  make_qp(id);
  struct rdma_conn_param param = parameters();
  TRY(rdma_connect(id, &param));
  TRY(rdma_connect(id, &param));
}

const struct test_case address_cases[] = {
    {"bind: no address", bind_nothing},
    {"bind: no identifier", bind_no_id},
    {"bind: addresses and port spaces", bind_addresses},
    {"bind: in a wrong state", bind_twice},
    {"bind: a port in use", port_in_use},
    {"bind: a port in use at every IPv4 address", port_in_use_by_any},
    {"bind: a port in use at every IPv6 address", port_in_use_by_any6},
    {"bind: a port in use by IPv6 only", port_of_one_family},
    {"bind: a port that is shared", port_shared},
    {"bind: a port to share whose holder listens", port_reused_late},
    {"bind: a port that was given back", port_given_back},
    {"bind: a privileged port", privileged_port},
    {"resolve address: none", resolve_nothing},
    {"resolve address: no identifier", resolve_no_id},
    {"resolve address: wrong ones", resolve_addresses},
    {"resolve address: timeouts", resolve_timeouts},
    {"resolve address: sources", resolve_sources},
    {"resolve address: in a wrong state", resolve_again},
    {"resolve route: of an idle identifier", route_idle},
    {"resolve route: of one bound to every address", route_any},
    {"resolve route: too early", route_too_early},
    {"resolve route: again", route_again},
    {"resolve route: no identifier", route_no_id},
    {"synchronous: errors are results", synchronous},
    {0},
};
