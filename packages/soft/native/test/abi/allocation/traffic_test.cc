// Without memory traffic ends in completions.
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
