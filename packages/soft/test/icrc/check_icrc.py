#!/usr/bin/python3
"""Checks the invariant CRC of every RoCE v2 packet of a capture, without any code of the software NIC.

    check_icrc.py FILE.pcapng

Each packet's CRC is computed twice: by zlib over the masked headers, and (IPv4 only, it knows no other) by Scapy's
scapy.contrib.roce. Prints one JSON document; the exit code is 1 if a packet is wrong or there is none, 2 for a wrong
command line or a file that cannot be read. Needs Debian's python3-scapy.
"""

import collections
import json
import sys
import zlib

try:
    from scapy.contrib.roce import BTH
    from scapy.error import Scapy_Exception
    from scapy.layers.inet import IP
    from scapy.utils import RawPcapNgReader
except ImportError as missing:
    print(f"{missing}; apt-get install python3-scapy, and run this with /usr/bin/python3", file=sys.stderr)
    sys.exit(2)

ROCE_PORT = 4791
UDP = 17
ICRC_SIZE = 4


def network_size(packet):
    """Where the UDP header begins, or None if there is none."""
    version = packet[0] >> 4
    if version == 4 and packet[9] == UDP:
        return (packet[0] & 0x0F) * 4
    if version == 6 and packet[6] == UDP:
        return 40
    return None


def is_roce(packet):
    udp = network_size(packet)
    return udp is not None and int.from_bytes(packet[udp + 2 : udp + 4], "big") == ROCE_PORT


def icrc_by_zlib(packet):
    """All that a router may change counts as ones, and so does the header of the local route that RoCE has not."""
    masked = bytearray(packet[:-ICRC_SIZE])
    udp = network_size(packet)
    if udp == 40:
        masked[0] |= 0x0F  # traffic class and flow label
        masked[1:4] = b"\xff" * 3
        masked[7] = 0xFF  # hop limit
    else:
        masked[1] = 0xFF  # type of service
        masked[8] = 0xFF  # time to live
        masked[10:12] = b"\xff" * 2  # header checksum
    masked[udp + 6 : udp + 8] = b"\xff" * 2  # UDP checksum
    masked[udp + 8 + 4] = 0xFF  # FECN, BECN and reserved bits of the BTH
    return zlib.crc32(bytes(masked), zlib.crc32(b"\xff" * 8)).to_bytes(4, "little")


def icrc_by_scapy(packet):
    return IP(packet)[BTH].compute_icrc(None)


def check(packets):
    """Yields (number, method, bytes in the packet, bytes computed) for each computation."""
    for number, packet in enumerate(packets, 1):
        methods = [icrc_by_zlib] if packet[0] >> 4 == 6 else [icrc_by_zlib, icrc_by_scapy]
        for method in methods:
            yield number, method.__name__, packet[-ICRC_SIZE:], method(packet)


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        packets = [packet for packet, _ in RawPcapNgReader(arguments[0])]
    except (OSError, EOFError, Scapy_Exception) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 2
    roce = [packet for packet in packets if is_roce(packet)]
    checked = collections.Counter()
    wrong = []
    for number, method, found, computed in check(roce):
        checked[method] += 1
        if found != computed:
            wrong.append({"packet": number, "by": method, "found": found.hex(), "computed": computed.hex()})
    print(json.dumps({"packets": len(packets), "roce": len(roce), "checked": checked, "wrong": wrong}))
    return 1 if wrong or not roce else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
