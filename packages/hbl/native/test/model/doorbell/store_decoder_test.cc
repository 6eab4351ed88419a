// The decoder, on instructions that an assembler has encoded.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "model/doorbell/store_decoder.h"

#include <doctest/doctest.h>

#include <vector>

using verbs::hbl::model::decode_store;
using verbs::hbl::model::Store;

namespace {

struct Case {
  const char* text;
  std::vector<std::uint8_t> code;
  unsigned width;
  bool vector;
  int reg;  // -1: immediate
  std::uint64_t value;
};

}  // namespace

TEST_CASE("the stores that compilers make") {
  const std::vector<Case> cases = {
      {"mov %rax,(%rdx)", {0x48, 0x89, 0x02}, 8, false, 0, 0},
      {"mov %r9,0x8(%r10)", {0x4d, 0x89, 0x4a, 0x08}, 8, false, 9, 0},
      {"mov %rsi,0x800(%rdi)", {0x48, 0x89, 0xb7, 0x00, 0x08, 0x00, 0x00}, 8, false, 6, 0},
      {"mov %rcx,(%rsp)", {0x48, 0x89, 0x0c, 0x24}, 8, false, 1, 0},
      {"mov %rcx,0x10(%rax,%rbx,8)", {0x48, 0x89, 0x4c, 0xd8, 0x10}, 8, false, 1, 0},
      {"mov %rax,0x1000(,%rbx,8)", {0x48, 0x89, 0x04, 0xdd, 0x00, 0x10, 0x00, 0x00}, 8, false, 0, 0},
      {"mov %rax,0x10(%rip)", {0x48, 0x89, 0x05, 0x10, 0x00, 0x00, 0x00}, 8, false, 0, 0},
      {"mov %eax,(%rdx)", {0x89, 0x02}, 4, false, 0, 0},
      {"mov %r15d,0x4(%rdx)", {0x44, 0x89, 0x7a, 0x04}, 4, false, 15, 0},
      {"movq $-2,(%rax)", {0x48, 0xc7, 0x00, 0xfe, 0xff, 0xff, 0xff}, 8, false, -1, ~std::uint64_t{1}},
      {"movl $5,4(%rax)", {0xc7, 0x40, 0x04, 0x05, 0x00, 0x00, 0x00}, 4, false, -1, 5},
      {"movnti %rax,(%rdx)", {0x48, 0x0f, 0xc3, 0x02}, 8, false, 0, 0},
      {"movq %xmm1,(%rdx)", {0x66, 0x0f, 0xd6, 0x0a}, 8, true, 1, 0},
      {"movd %xmm0,(%rdx)", {0x66, 0x0f, 0x7e, 0x02}, 4, true, 0, 0},
      {"movq %xmm9,(%rdx)", {0x66, 0x4c, 0x0f, 0x7e, 0x0a}, 8, true, 9, 0},
  };
  for (const Case& each : cases) {
    CAPTURE(each.text);
    Store store;
    REQUIRE(decode_store(each.code.data(), &store));
    CHECK(store.length == each.code.size());
    CHECK(store.width == each.width);
    CHECK(store.vector == each.vector);
    CHECK(store.immediate == (each.reg < 0));
    if (each.reg >= 0) CHECK(store.reg == static_cast<unsigned>(each.reg));
    CHECK(store.value == each.value);
  }
}

TEST_CASE("other instructions are not decoded as stores") {
  const std::vector<std::vector<std::uint8_t>> codes = {
      {0x48, 0x8b, 0x02},              // mov (%rdx),%rax
      {0x48, 0x89, 0xc2},              // mov %rax,%rdx
      {0x88, 0x02},                    // mov %al,(%rdx)
      {0x66, 0x89, 0x02},              // mov %ax,(%rdx)
      {0x48, 0x01, 0x02},              // add %rax,(%rdx)
      {0xf3, 0x48, 0xab},              // rep stos
      {0x0f, 0x29, 0x02},              // movaps %xmm0,(%rdx)
      {0xc5, 0xfa, 0x7f, 0x02, 0x00},  // vmovdqu
  };
  for (const auto& code : codes) {
    std::vector<std::uint8_t> padded = code;
    padded.resize(16, 0x90);
    Store store;
    CHECK_FALSE(decode_store(padded.data(), &store));
  }
}
