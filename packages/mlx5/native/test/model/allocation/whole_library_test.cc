// The last test of this folder: what the others ran is all that the library exports.
#include "../../../../../soft/native/test/abi/support/failing_call.h"

using namespace verbs::soft::test;

TEST_CASE("no exported function is missing here" * doctest::skip(!kAllocationsCanFail)) {
  check_no_call_is_missing("libmlx5.so.1", {});
}
