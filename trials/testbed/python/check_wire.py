"""Checks every RoCE v2 frame of a capture: lengths, headers and the ICRC, by zlib's CRC-32, and what tshark calls malformed.

    check_wire.py CAPTURE

prints one JSON object: how many frames there were, how many of each sender, and what is wrong with which.
"""

import collections
import json
import struct
import subprocess
import sys
import zlib

PORT = 4791
MAX_FINDINGS = 20
# The extended headers of each operation, by the lower five bits of the opcode.
RETH, AETH, IMM, IETH, ATOMIC, ATOMIC_ACK, DETH = 16, 4, 4, 4, 28, 8, 8
EXTENDED = {
    0x03: IMM, 0x05: IMM, 0x06: RETH, 0x09: IMM, 0x0A: RETH, 0x0B: RETH + IMM, 0x0C: RETH, 0x0D: AETH, 0x0F: AETH,
    0x10: AETH, 0x11: AETH, 0x12: AETH + ATOMIC_ACK, 0x13: ATOMIC, 0x14: ATOMIC, 0x16: IETH, 0x17: IETH,
}
NO_PAYLOAD = {0x0C, 0x11, 0x12, 0x13, 0x14}


def frames(path):
    """The Ethernet frames of a classic pcap file."""
    with open(path, "rb") as file:
        header = file.read(24)
        order = "<" if header[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
        if struct.unpack(order + "I", header[20:24])[0] != 1:
            sys.exit("this is no capture of Ethernet")
        while len(record := file.read(16)) == 16:
            _, _, kept, length = struct.unpack(order + "IIII", record)
            yield file.read(kept), length


def network(frame):
    """(sender, the header as the ICRC sees it, what follows it), or None for something else than UDP."""
    kind = struct.unpack("!H", frame[12:14])[0]
    if kind == 0x0800 and frame[23] == 17:
        length = (frame[14] & 15) * 4
        header = bytearray(frame[14:14 + length])
        total = struct.unpack("!H", header[2:4])[0]
        header[1] = header[8] = header[10] = header[11] = 0xFF
        return frame[26:30], bytes(header), frame[14 + length:14 + total]
    if kind == 0x86DD and frame[20] == 17:
        header = bytearray(frame[14:54])
        total = struct.unpack("!H", header[4:6])[0]
        header[0] |= 0x0F
        header[1] = header[2] = header[3] = header[7] = 0xFF
        return frame[22:38], bytes(header), frame[54:54 + total]
    return None


def findings(ip, datagram):
    """What is wrong with one frame."""
    if len(datagram) < 8 + 12 + 4:
        yield "too short"
        return
    udp, bth, rest = datagram[:8], datagram[8:20], datagram[20:-4]
    if struct.unpack("!H", udp[4:6])[0] != len(datagram):
        yield "the length of UDP is wrong"
    covered = b"\xff" * 8 + ip + udp[:6] + b"\xff\xff" + bth[:4] + b"\xff" + bth[5:] + rest
    if zlib.crc32(covered) != struct.unpack("<I", datagram[-4:])[0]:
        yield "the ICRC is wrong"
    opcode, transport, operation, pad = bth[0], bth[0] >> 5, bth[0] & 0x1F, bth[1] >> 4 & 3
    if transport not in (0, 1, 3) or operation > 0x17 or operation == 0x15:
        yield f"opcode {opcode:#04x}"
        return
    if bth[1] & 0x0F:
        yield "the transport version is not 0"
    if struct.unpack("!H", bth[2:4])[0] != 0xFFFF:
        yield "the P_Key is not the default one"
    payload = len(rest) - EXTENDED.get(operation, 0) - (DETH if transport == 3 else 0) - pad
    if payload < 0 or (operation in NO_PAYLOAD and payload != 0):
        yield f"opcode {opcode:#04x} with {len(rest)} bytes"
    if len(rest) % 4:
        yield "the length is no multiple of 4"
    if pad and any(rest[-pad:]):
        yield "the padding is not 0"


def malformed(path):
    """The numbers and protocols of the frames that tshark cannot dissect. It guesses at what payloads are; only what it says of
    the transport itself counts."""
    command = ["tshark", "-r", path, "--disable-protocol", "rpcordma",
               "-Y", "_ws.malformed", "-T", "fields", "-e", "frame.number", "-e", "frame.protocols"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"tshark: {result.stderr}")
    found = [line.split() for line in result.stdout.splitlines()]
    return [(number, protocols) for number, protocols in found if protocols.endswith(":infiniband")]


def main(path):
    count, wrong, senders = 0, [], collections.Counter()
    for number, (frame, length) in enumerate(frames(path), 1):
        parts = network(frame)
        if parts is None or len(frame) < length:
            continue
        sender, ip, datagram = parts
        count += 1
        senders[sender.hex()] += 1
        wrong += [f"frame {number} of {sender.hex()}: {text}" for text in findings(ip, datagram)]
    wrong += [f"frame {number}: tshark calls it malformed: {protocols}" for number, protocols in malformed(path)]
    more = [f"and {len(wrong) - MAX_FINDINGS} more"] if len(wrong) > MAX_FINDINGS else []
    print(json.dumps({"frames": count, "senders": senders, "findings": wrong[:MAX_FINDINGS] + more}))


main(sys.argv[1])
