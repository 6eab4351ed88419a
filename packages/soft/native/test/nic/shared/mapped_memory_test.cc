// What a registration finds out about mappings, on kernels with and without an answer for one address, and without a
// descriptor.
#include "nic/base/mapped_memory.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "test/refused_calls.h"

using namespace verbs::soft::test;
using verbs::soft::nic::check_mapped;

namespace {

constexpr std::size_t kPage = 4096;
constexpr int kBoth = PROT_READ | PROT_WRITE;

char* map(std::size_t size, int protection, int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE) {
  void* memory = mmap(nullptr, size, protection, flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

// The exit status of a child that runs `body`; a failed check of its own is 100.
int child(const std::function<int()>& body) {
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) _exit(body());
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

#define EXPECT(condition)                               \
  do {                                                  \
    if (!(condition)) {                                 \
      std::fprintf(stderr, "failed: %s\n", #condition); \
      return 1;                                         \
    }                                                   \
  } while (0)

int check_everything() {
  char* pages = map(4 * kPage, kBoth);
  EXPECT(check_mapped(pages, 4 * kPage, true) == 0);
  EXPECT(check_mapped(pages + 1, 3, true) == 0);
  EXPECT(check_mapped(pages, SIZE_MAX, true) == EINVAL);
  // Three mappings side by side.
  mprotect(pages + kPage, kPage, PROT_READ);
  EXPECT(check_mapped(pages, 4 * kPage, false) == 0);
  EXPECT(check_mapped(pages, 4 * kPage, true) == EFAULT);
  EXPECT(check_mapped(pages, kPage, true) == 0);
  EXPECT(check_mapped(pages + kPage - 1, 2, true) == EFAULT);
  EXPECT(check_mapped(pages + 2 * kPage, 2 * kPage, true) == 0);
  mprotect(pages + kPage, kPage, PROT_WRITE);  // a kernel would pin this for reading, too
  mprotect(pages + kPage, kPage, PROT_NONE);
  EXPECT(check_mapped(pages, 4 * kPage, false) == EFAULT);
  munmap(pages + kPage, kPage);
  EXPECT(check_mapped(pages, 4 * kPage, false) == EFAULT);
  EXPECT(check_mapped(pages + 3 * kPage, kPage, true) == 0);
  EXPECT(check_mapped(pages + kPage, 1, false) == EFAULT);
  EXPECT(check_mapped(reinterpret_cast<void*>(16), 8, false) == EFAULT);
  EXPECT(check_mapped(reinterpret_cast<void*>(std::uintptr_t{1} << 63), 8, false) == EFAULT);
  // Behind the end of its file a mapping is a mapping; the access will fail.
  const int file = memfd_create("short", MFD_CLOEXEC);
  EXPECT(ftruncate(file, kPage) == 0);
  void* beyond = mmap(nullptr, 2 * kPage, kBoth, MAP_SHARED, file, 0);
  EXPECT(check_mapped(beyond, 2 * kPage, true) == 0);
  return 0;
}

// A large range stays as sparse as it is, and one without rights is refused at once.
int check_large() {
  constexpr std::size_t kLarge = std::size_t{64} << 30;
  char* reserved = map(kLarge, PROT_NONE);
  char* sparse = map(kLarge, kBoth);
  EXPECT(reserved && sparse);
  EXPECT(check_mapped(reserved, kLarge, false) == EFAULT);
  EXPECT(check_mapped(sparse, kLarge, true) == 0);
  std::vector<unsigned char> present(1024);
  EXPECT(mincore(sparse, present.size() * kPage, present.data()) == 0);
  for (const unsigned char page : present) EXPECT((page & 1) == 0);
  return 0;
}

int with_many_mappings(const std::function<int()>& body) {
  constexpr std::size_t kMappings = 32'000;
  char* many = map(kMappings * kPage, kBoth);
  EXPECT(many);
  for (std::size_t i = 0; i < kMappings; i += 2) EXPECT(mprotect(many + i * kPage, kPage, PROT_READ) == 0);
  return body();
}

int check_without_reading() {
  std::vector<char> small(100'000);
  EXPECT(refuse_reading());
  EXPECT(check_mapped(small.data(), small.size(), true) == 0);
  EXPECT(check_mapped(small.data(), small.size(), false) == 0);
  return 0;
}

}  // namespace

TEST_CASE("mappings, rights and holes") {
  CHECK(child(check_everything) == 0);
  CHECK(child(check_large) == 0);
}

TEST_CASE("the same on older kernels") {
  CHECK(child([] { return be_linux_6_1() ? check_everything() : 100; }) == 0);
  CHECK(child([] { return be_linux_6_1() ? check_large() : 100; }) == 0);
  CHECK(child([] { return be_linux_5_10() ? check_everything() : 100; }) == 0);
  CHECK(child([] { return be_linux_5_10() ? check_large() : 100; }) == 0);
}

// The list of 32,000 mappings has 2 MB. For a small range it is not read.
TEST_CASE("the cost does not grow with the mappings of the process") {
  CHECK(child([] { return with_many_mappings(check_without_reading); }) == 0);
  CHECK(child([] { return be_linux_6_1() ? with_many_mappings(check_without_reading) : 100; }) == 0);
}

TEST_CASE("without a descriptor for the list of mappings nothing wrong is accepted") {
  const auto body = [] {
    const rlimit none{0, 0};
    EXPECT(setrlimit(RLIMIT_NOFILE, &none) == 0);
    char* pages = map(4 * kPage, kBoth);
    EXPECT(check_mapped(pages, 4 * kPage, true) == 0);
    mprotect(pages + kPage, kPage, PROT_READ);
    EXPECT(check_mapped(pages, 4 * kPage, true) == EFAULT);
    EXPECT(check_mapped(pages, 4 * kPage, false) == 0);
    munmap(pages + kPage, kPage);
    EXPECT(check_mapped(pages, 4 * kPage, false) == EFAULT);
    EXPECT(check_mapped(reinterpret_cast<void*>(16), 8, false) == EFAULT);
    constexpr std::size_t kLarge = std::size_t{64} << 30;
    EXPECT(check_mapped(map(kLarge, kBoth), kLarge, true) == ENOMEM);
    return 0;
  };
  CHECK(child(body) == 0);
}
