// The last test of this folder: what the others ran is all that the libraries export.
#include "test/abi/support/failing_call.h"

using namespace verbs::soft::test;

TEST_CASE("no exported function is missing here" * doctest::skip(!kAllocationsCanFail)) {
  check_no_call_is_missing("libibverbs.so.1", {});
  // Of the library behind it, the functions for C programs; the others are its own.
  for (const std::string& name : exported_functions("libverbs-soft-nic.so.1")) {
    CAPTURE(name);
    if (name.starts_with("verbs_soft_")) CHECK(failed_calls().contains(name));
  }
}
