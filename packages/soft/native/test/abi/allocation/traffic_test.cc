// Without memory traffic ends in completions, and their reasons can be asked for.
#include <string>

#include "include/verbs_soft_extension.h"
#include "test/abi/support/device_pair.h"
#include "test/abi/support/failing_call.h"

using namespace verbs::soft::test;

TEST_CASE("traffic while allocations fail ends in completions, never in the end of the process" *
          doctest::skip(!kAllocationsCanFail)) {
  for (const int nth : {1, 2, 3, 7, 50}) {
    CAPTURE(nth);
    configure("x0;y0");
    End a("x0"), b("y0");
    a.connect(b);
    b.connect(a);
    fail_every_allocation(nth);
    int sent = 0, errors = 0;
    for (int i = 0; i < 200; ++i) {
      const int posted = b.post_recv(0, 4096), sending = a.send(0, 4096);
      if (posted != 0 || sending != 0) {
        ++errors;
        break;
      }
      const ibv_wc wc = a.poll();
      if (wc.status != IBV_WC_SUCCESS) {
        ++errors;
        break;
      }
      b.poll();
      ++sent;
    }
    fail_every_allocation(0);
    CHECK((sent == 200 || errors == 1));
  }
}

TEST_CASE("why a request failed, also while allocations fail" * doctest::skip(!kAllocationsCanFail)) {
  configure("x0");
  End a("x0"), b("x0");
  a.connect(b);
  b.connect(a);
  REQUIRE(b.post_recv(0, 16) == 0);
  REQUIRE(a.send(0, 64) == 0);
  const ibv_wc sent = a.poll(), received = b.poll();
  char text[256] = "";
  const auto why = [&](const End& end, int status) {
    return verbs_soft_why(end.context.get(), end.qp->qp_num, status, text, sizeof text);
  };
  until_it_succeeds("verbs_soft_why", [&] { return why(a, sent.status); });
  const std::string sentence = "a receive request of 16 bytes is too short for a message of 64";
  CHECK(text == "at the peer's end " + sentence);
  CHECK(why(b, received.status) == 0);
  CHECK(text == sentence);
  CHECK(why(b, IBV_WC_RETRY_EXC_ERR) == ENOENT);
  char least[1] = {'x'};
  CHECK(verbs_soft_why(a.context.get(), a.qp->qp_num, sent.status, least, sizeof least) == 0);
  CHECK(least[0] == '\0');
  CHECK(verbs_soft_why(nullptr, a.qp->qp_num, sent.status, text, sizeof text) != 0);
}
