#include <arpa/inet.h>
#include <string.h>
#include <sys/un.h>

#include "case.h"

static const char *own_ipv4, *own_ipv6;

void set_own(const char *ipv4_text, const char *ipv6_text) {
  own_ipv4 = ipv4_text;
  own_ipv6 = ipv6_text;
}

/* One of a few: an address is used soon after it was made. */
static struct sockaddr *next_address(sa_family_t family) {
  static struct sockaddr_storage kept[16];
  static unsigned next;
  struct sockaddr_storage *address = &kept[next++ % 16];
  memset(address, 0, sizeof *address);
  address->ss_family = family;
  return (struct sockaddr *)address;
}

struct sockaddr *ipv4(const char *text, uint16_t port) {
  struct sockaddr_in *address = (struct sockaddr_in *)next_address(AF_INET);
  address->sin_port = htons(port);
  inet_pton(AF_INET, text, &address->sin_addr);
  return (struct sockaddr *)address;
}

struct sockaddr *ipv6(const char *text, uint16_t port) {
  struct sockaddr_in6 *address = (struct sockaddr_in6 *)next_address(AF_INET6);
  address->sin6_port = htons(port);
  inet_pton(AF_INET6, text, &address->sin6_addr);
  return (struct sockaddr *)address;
}

struct sockaddr *own4(uint16_t port) { return ipv4(own_ipv4, port); }
struct sockaddr *own6(uint16_t port) { return ipv6(own_ipv6, port); }
/* Of the blocks for documentation. */
struct sockaddr *foreign4(uint16_t port) { return ipv4("192.0.2.1", port); }
struct sockaddr *foreign6(uint16_t port) { return ipv6("2001:db8::1", port); }
struct sockaddr *group4(void) { return ipv4("239.7.7.7", 0); }

struct sockaddr *no_ip(void) {
  struct sockaddr_un *address = (struct sockaddr_un *)next_address(AF_UNIX);
  strcpy(address->sun_path, "nobody");
  return (struct sockaddr *)address;
}
