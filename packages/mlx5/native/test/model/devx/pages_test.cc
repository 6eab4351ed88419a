// Pages for doorbells, and entries of packet pacing.
#include "test/support/model/ends.h"

using namespace verbs::mlx5::test;

TEST_CASE("a page for doorbells can be written, and has a number of its own") {
  End end;
  mlx5dv_devx_uar* first = mlx5dv_devx_alloc_uar(end.context, 0);
  mlx5dv_devx_uar* second = mlx5dv_devx_alloc_uar(end.context, 1);
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  CHECK(first->page_id != second->page_id);
  auto* page = static_cast<std::uint8_t*>(first->base_addr);
  CHECK(static_cast<std::uint8_t*>(first->reg_addr) == page + 0x800);
  page[0xfff] = 1;
  CHECK(page[0xfff] == 1);
  CHECK(ERRNO_OF(mlx5dv_devx_alloc_uar(end.context, 2)) == EOPNOTSUPP);
  CHECK(ERRNO_OF(mlx5dv_devx_alloc_uar(nullptr, 0)) == EINVAL);
  mlx5dv_devx_free_uar(first);
  mlx5dv_devx_free_uar(first);  // twice is no crash
  mlx5dv_devx_free_uar(nullptr);
}

TEST_CASE("entries of packet pacing with the same settings have one number, unless they are dedicated") {
  End end, other;
  const auto alloc = [&](End& of, std::uint8_t rate, std::uint32_t flags = 0) {
    const std::uint8_t settings[4] = {0, 0, 0, rate};
    return mlx5dv_pp_alloc(of.context, sizeof settings, settings, flags);
  };
  mlx5dv_pp* const one = alloc(end, 100);
  REQUIRE(one != nullptr);
  CHECK(alloc(other, 100)->index == one->index);
  CHECK(alloc(end, 101)->index != one->index);
  mlx5dv_pp* const dedicated = alloc(end, 100, 1);
  REQUIRE(dedicated != nullptr);
  CHECK(dedicated->index != one->index);
  CHECK(ERRNO_OF(alloc(end, 0)) == EINVAL);
  CHECK(ERRNO_OF(alloc(end, 100, 2)) == EINVAL);
  const std::uint8_t long_settings[49] = {1};
  CHECK(ERRNO_OF(mlx5dv_pp_alloc(end.context, 49, long_settings, 0)) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_pp_alloc(end.context, 0, long_settings, 0)) == EINVAL);
  int count = 3;
  while (alloc(end, 100, 1) != nullptr) ++count;
  CHECK(errno == ENOSPC);
  CHECK(count == 127);
  const std::uint16_t index = dedicated->index;
  mlx5dv_pp_free(dedicated);
  mlx5dv_pp_free(dedicated);  // twice is no crash
  mlx5dv_pp* const again = alloc(end, 100, 1);
  REQUIRE(again != nullptr);
  CHECK(again->index == index);
}
