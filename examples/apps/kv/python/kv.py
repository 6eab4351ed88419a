#!/usr/bin/python3
"""A client of the key-value store, over pyverbs: the same table, by the same protocol.

Usage: kv.py [--device NAME] [--host ADDRESS] [--port N] [--json] get KEY | put KEY VALUE

Without an adapter, `verbs run -- python3 kv.py get KEY` brings the software NIC. Exit codes: 0 done, 1 failed or no such
key, 2 wrong command line. src/table.mjs describes the table.
"""

import argparse
import hashlib
import ipaddress
import json
import os
import random
import socket
import struct
import sys
import time

import pyverbs.enums as e
from pyverbs.addr import AHAttr, GID, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR

SLOT = 256
HEAD = 16
GONE = 0xffffffff
PATIENCE = 10.0


class Failure(Exception):
    """Something for the user."""


def full(address):
    """An IPv6 address with all of its digits, the only form that pyverbs reads."""
    digits = ipaddress.IPv6Address(address).packed.hex()
    return ':'.join(digits[at:at + 4] for at in range(0, 32, 4))


class Store:
    def __init__(self, device, host, port):
        devices = [each.name.decode() for each in get_device_list()]
        if not devices:
            raise Failure('there is no RDMA device: run this by "verbs run -- python3 kv.py"')
        self.context = Context(name=device or devices[0])
        pd = PD(self.context)
        self.cq = CQ(self.context, 4)
        cap = QPCap(max_send_wr=4, max_recv_wr=1, max_send_sge=1, max_recv_sge=1)
        self.qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq, cap=cap))
        self.mr = MR(pd, SLOT + 8, e.IBV_ACCESS_LOCAL_WRITE)
        psn = random.randrange(1 << 24)
        self.meet(host, port, psn)
        self.connect(psn)

    def meet(self, host, port, psn):
        """One JSON line each; the connection stays open while this client is there."""
        gid = self.context.query_gid(1, 0)
        mtu = self.context.query_port(1).active_mtu
        ours = {'qpNum': self.qp.qp_num, 'psn': psn, 'gid': gid.gid, 'mtu': mtu, 'rdAtomic': 1}
        try:
            self.socket = socket.create_connection((host, port))
            self.socket.sendall((json.dumps(ours) + '\n').encode())
            line = self.socket.makefile().readline()
        except OSError as error:
            raise Failure(f'no server at {host} port {port}: {error}; start one with "kv serve"') from error
        if not line:
            raise Failure('the server has rejected this client')
        self.table = json.loads(line)
        self.mtu = min(mtu, self.table['endpoint']['mtu'])

    def connect(self, psn):
        remote = self.table['endpoint']
        attr = QPAttr(port_num=1)
        attr.qp_access_flags = e.IBV_ACCESS_LOCAL_WRITE
        self.qp.to_init(attr)
        attr.path_mtu = self.mtu
        attr.dest_qp_num = remote['qpNum']
        attr.rq_psn = remote['psn']
        attr.max_dest_rd_atomic = 1
        attr.min_rnr_timer = 12
        route = GlobalRoute(dgid=GID(full(remote['gid'])), sgid_index=0, hop_limit=64)
        attr.ah_attr = AHAttr(port_num=1, is_global=1, gr=route, dlid=remote.get('lid', 0))
        self.qp.to_rtr(attr)
        attr.sq_psn = psn
        attr.timeout = 18  # with seven retries, a server may stand still for some seconds
        attr.retry_cnt = 7
        attr.rnr_retry = 7
        attr.max_rd_atomic = 1
        self.qp.to_rts(attr)

    def post(self, opcode, slot, at=0, local=0, length=8, compare=None):
        """Posts a request for a slot of the table, and waits for its completion."""
        wr = SendWR(opcode=opcode, num_sge=1, sg=[SGE(self.mr.buf + local, length, self.mr.lkey)])
        address = int(self.table['addr']) + slot * SLOT + at
        if compare:
            wr.set_wr_atomic(self.table['rkey'], address, *compare)
        else:
            wr.set_wr_rdma(self.table['rkey'], address)
        self.qp.post_send(wr)
        while True:
            count, completions = self.cq.poll(1)
            if count:
                break
        if completions[0].status != e.IBV_WC_SUCCESS:
            raise Failure(f'the request failed with status {completions[0].status}: is the server gone?')

    def version(self, slot):
        self.post(e.IBV_WR_RDMA_READ, slot, local=SLOT)
        return struct.unpack('<Q', self.mr.read(8, SLOT))[0]

    def exchange(self, slot, old, new):
        self.post(e.IBV_WR_ATOMIC_CMP_AND_SWP, slot, local=SLOT, compare=(old, new))
        return struct.unpack('<Q', self.mr.read(8, SLOT))[0] == old

    def read(self, slot):
        """The version of a slot at rest, its key and its value."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.post(e.IBV_WR_RDMA_READ, slot, length=SLOT)
            data = self.mr.read(SLOT, 0)
            version, key_bytes, value_bytes = struct.unpack_from('<QII', data)
            if version % 2 or self.version(slot) != version:
                time.sleep(0.001)
                continue
            if version == 0:
                return 0, None, None
            key = data[HEAD:HEAD + key_bytes].decode()
            if value_bytes == GONE:
                return version, key, None
            value = data[HEAD + key_bytes:HEAD + key_bytes + value_bytes]
            return version, key, value.decode()
        raise Failure(f'slot {slot} has been changing for {PATIENCE} s: its writer has ended within a change')

    def find(self, key):
        slots = self.table['slots']
        first = struct.unpack('<I', hashlib.sha256(key.encode()).digest()[:4])[0]
        for probe in range(slots):
            slot = (first + probe) % slots
            version, found, value = self.read(slot)
            if found is None or found == key:
                return slot, version, value
        raise Failure(f'the table is full: none of its {slots} slots is free')

    def get(self, key):
        return self.find(key)[2]

    def put(self, key, value):
        name, text = key.encode(), value.encode()
        if HEAD + len(name) + len(text) > SLOT:
            raise Failure(f'key and value have {len(name) + len(text)} bytes together: at most {SLOT - HEAD} are possible')
        body = struct.pack('<II', len(name), len(text)) + name + text
        while True:
            slot, version, _ = self.find(key)
            if not self.exchange(slot, version, version + 1):
                continue
            self.mr.write(body, len(body), 8)
            self.post(e.IBV_WR_RDMA_WRITE, slot, at=8, local=8, length=len(body))
            self.exchange(slot, version + 1, version + 2)
            return


def main():
    parser = argparse.ArgumentParser(description='A client of the key-value store, over pyverbs.')
    parser.add_argument('--device', help='the RDMA device; default the first one')
    parser.add_argument('--host', default='127.0.0.1')
    parser.add_argument('--port', type=int, default=18517)
    parser.add_argument('--json', action='store_true', help='print JSON')
    commands = parser.add_subparsers(dest='command', required=True)
    get = commands.add_parser('get')
    get.add_argument('key')
    put = commands.add_parser('put')
    put.add_argument('key')
    put.add_argument('value')
    args = parser.parse_args()
    store = Store(args.device, args.host, args.port)
    if args.command == 'put':
        store.put(args.key, args.value)
    value = args.value if args.command == 'put' else store.get(args.key)
    if args.json:
        print(json.dumps({'key': args.key, 'value': value}))
    elif args.command == 'get' and value is not None:
        print(value)
    return 1 if value is None else 0


if __name__ == '__main__':
    try:
        status = main()
    except (Failure, PyverbsError) as problem:
        print(f'kv.py: {problem}', file=sys.stderr)
        status = 1
    sys.stdout.flush()
    os._exit(status)  # pyverbs frees its objects in any order at an exit, and warns of it
