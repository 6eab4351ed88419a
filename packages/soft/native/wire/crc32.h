// CRC-32/IEEE (reflected, the polynomial of Ethernet and zlib), by carry-less multiplication where the CPU has it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace verbs::soft::wire {

// Continues a raw (not inverted) CRC register over `size` bytes: the caller seeds it and inverts the end.
std::uint32_t crc32_update(std::uint32_t crc, const std::uint8_t* data, std::size_t size);

// The same by slicing-by-8 tables, without special instructions: the reference for tests and the fallback.
std::uint32_t crc32_update_portable(std::uint32_t crc, const std::uint8_t* data, std::size_t size);

}  // namespace verbs::soft::wire
