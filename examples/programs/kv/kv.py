#!/usr/bin/python3
"""A client of the key-value store kv.mjs: kv.py HOST PORT get KEY, kv.py HOST PORT put KEY VALUE."""
import sys

import pyverbs.cm_enums as ce
import pyverbs.enums as e
from pyverbs.cmid import CMEvent, CMEventChannel, CMID, AddrInfo, ConnParam
from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.qp import QP, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR

SLOTS, SLOT, HEAD = 1024, 256, 16


class Table:
    """The server's memory."""

    def __init__(self, host, port):
        self.channel = CMEventChannel()
        self.id = CMID(creator=self.channel)
        there = AddrInfo(dst=host, dst_service=port, port_space=ce.RDMA_PS_TCP)
        self.id.resolve_addr(there)
        self.expect(ce.RDMA_CM_EVENT_ADDR_RESOLVED)
        self.id.resolve_route()
        self.expect(ce.RDMA_CM_EVENT_ROUTE_RESOLVED)
        self.pd = self.id.pd
        self.cq = CQ(self.id.context, 8)
        init = QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq, cap=QPCap(max_send_wr=4))
        self.qp = QP(self.pd, init)
        self.id.connect(ConnParam(qp_num=self.qp.qp_num))
        place = self.expect(ce.RDMA_CM_EVENT_CONNECT_RESPONSE)
        for state in e.IBV_QPS_INIT, e.IBV_QPS_RTR, e.IBV_QPS_RTS:
            self.qp.modify(*self.id.init_qp_attr(state))
        self.id.establish()
        self.addr, self.rkey = (int(word, 16) for word in place.rstrip(b'\0').split())
        self.mr = MR(self.pd, SLOT + 8, e.IBV_ACCESS_LOCAL_WRITE)

    def expect(self, kind):
        """Waits for the next event, which has to be this one. Returns the peer's private data."""
        event = CMEvent(self.channel)
        if event.event_type != kind:
            raise SystemExit(f'kv.py: {event.event_str()}')
        data = event.private_data if kind == ce.RDMA_CM_EVENT_CONNECT_RESPONSE else None
        event.ack_cm_event()
        return data

    def run(self, opcode, local, length, remote, atomic=None):
        """One request, and its completion."""
        request = SendWR(opcode=opcode, num_sge=1, sg=[SGE(self.mr.buf + local, length, self.mr.lkey)])
        if atomic:
            request.set_wr_atomic(self.rkey, self.addr + remote, *atomic)
        else:
            request.set_wr_rdma(self.rkey, self.addr + remote)
        self.qp.post_send(request)
        while True:
            count, completions = self.cq.poll()
            if count > 0:
                break
        if completions[0].status != e.IBV_WC_SUCCESS:
            raise SystemExit(f'kv.py: a request failed with status {completions[0].status}')

    def number(self, offset, length):
        return int.from_bytes(self.mr.read(length, offset), 'little')

    def version(self, slot):
        self.run(e.IBV_WR_RDMA_READ, SLOT, 8, slot * SLOT)
        return self.number(SLOT, 8)

    def read(self, slot):
        """The version, key and value at rest."""
        while True:
            self.run(e.IBV_WR_RDMA_READ, 0, SLOT, slot * SLOT)
            version, key, value = self.number(0, 8), self.number(8, 4), self.number(12, 4)
            content = self.mr.read(SLOT - HEAD, HEAD)
            if version % 2 == 0 and self.version(slot) == version:
                return version, content[:key], content[key:key + value]

    def exchange(self, slot, old, new):
        self.run(e.IBV_WR_ATOMIC_CMP_AND_SWP, SLOT, 8, slot * SLOT, (old, new))
        return self.number(SLOT, 8) == old

    def write(self, slot, key, value):
        body = len(key).to_bytes(4, 'little') + len(value).to_bytes(4, 'little') + key + value
        self.mr.write(body, len(body), 8)
        self.run(e.IBV_WR_RDMA_WRITE, 8, len(body), slot * SLOT + 8)

    def close(self):
        self.id.disconnect()
        self.expect(ce.RDMA_CM_EVENT_DISCONNECTED)


def slots_of(key):
    """Where a key may be: from its hash on (FNV-1a), up to the first slot that was never written."""
    number = 0x811C9DC5
    for byte in key:
        number = (number ^ byte) * 0x01000193 & 0xFFFFFFFF
    return ((number + probe) % SLOTS for probe in range(SLOTS))


def get(table, key):
    for slot in slots_of(key):
        version, found, value = table.read(slot)
        if version == 0:
            return None
        if found == key:
            return value
    return None


def put(table, key, value):
    if HEAD + len(key) + len(value) > SLOT:
        raise SystemExit('kv.py: key and value are too long')
    for slot in slots_of(key):
        while True:
            version, found, _ = table.read(slot)
            if version != 0 and found != key:
                break
            if table.exchange(slot, version, version + 1):
                table.write(slot, key, value)
                table.exchange(slot, version + 1, version + 2)
                return
    raise SystemExit('kv.py: the table is full')


if len(sys.argv) < 5:
    raise SystemExit(__doc__)
host, port, command, *words = sys.argv[1:]
table = Table(host, port)
words = [word.encode() for word in words]
value = get(table, words[0]) if command == 'get' else put(table, *words)
table.close()
if value is not None:
    print(value.decode())
sys.exit(command == 'get' and value is None)
