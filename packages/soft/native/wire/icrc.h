// The invariant CRC of RoCE v2 (IBTA annex A17): CRC-32/IEEE over eight 0xff bytes and the packet with its variant
// fields set to ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace verbs::soft::wire {

// `frame` is a whole frame (IP header first). Its last four bytes are for the ICRC and are not read. The frame must
// have passed parse_frame() or come from write_network().
std::uint32_t icrc(std::span<const std::uint8_t> frame);
// The same for a frame whose network headers (IP, and UDP if it has one) take `network` bytes and are followed by
// `tunnel` bytes that the ICRC does not cover.
std::uint32_t icrc(std::span<const std::uint8_t> frame, std::size_t network, std::size_t tunnel);

// Store and compare the last four bytes, least significant first.
void seal_icrc(std::span<std::uint8_t> frame);
void seal_icrc(std::span<std::uint8_t> frame, std::size_t network, std::size_t tunnel);
bool check_icrc(std::span<const std::uint8_t> frame);
bool check_icrc(std::span<const std::uint8_t> frame, std::size_t network, std::size_t tunnel);

// CRC-32/IEEE (reflected, the polynomial of Ethernet and zlib), by carry-less multiplication where the CPU has it.

// Continues a raw (not inverted) CRC register over `size` bytes: the caller seeds it and inverts the end.
std::uint32_t crc32_update(std::uint32_t crc, const std::uint8_t* data, std::size_t size);

// The same by slicing-by-8 tables, without special instructions: the reference for tests and the fallback.
std::uint32_t crc32_update_portable(std::uint32_t crc, const std::uint8_t* data, std::size_t size);

}  // namespace verbs::soft::wire
