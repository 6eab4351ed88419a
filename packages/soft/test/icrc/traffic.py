#!/usr/bin/python3
"""Traffic of every kind, by Debian's python3-pyverbs.

    traffic.py DEVICE DEVICE PART...

Parts are rc (every operation in many sizes), bulk (long messages), nak (what a responder refuses), ud (datagrams) and
pause (does nothing until it is killed). The devices may be the same one. Ends with exit code 1 if a completion or the
data is not what it should be. Needs Debian's python3-pyverbs.
"""

import signal
import sys
import time

try:
    import pyverbs.enums as e
    from pyverbs.addr import AH, AHAttr, GlobalRoute
    from pyverbs.cq import CQ
    from pyverbs.device import Context
    from pyverbs.mr import MR
    from pyverbs.pd import PD
    from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
    from pyverbs.wr import SGE, RecvWR, SendWR
except ImportError as missing:
    print(f"{missing}; apt-get install python3-pyverbs, and run this with /usr/bin/python3", file=sys.stderr)
    sys.exit(2)

PORT = 1
SIZES = [0, 1, 2, 3, 64, 4096, 4097, 20001]
ROOM = 32768
GRH = 40
IMM = 0x01020304
QKEY = 0x11111111
ACCESS = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
# A missing completion is a failure, after far longer than the retries of a lossy link take.
PATIENCE = 60


class Side:
    def __init__(self, device):
        self.context = Context(name=device)
        self.pd = PD(self.context)
        self.mr = MR(self.pd, ROOM, ACCESS)
        self.cq = CQ(self.context, 64)
        self.gid = self.context.query_gid(PORT, 0)
        self.mtu = self.context.query_port(PORT).active_mtu
        self.qp = None

    def create(self, kind):
        cap = QPCap(max_send_wr=16, max_recv_wr=16, max_send_sge=1, max_recv_sge=1)
        init = QPInitAttr(qp_type=kind, scq=self.cq, rcq=self.cq, cap=cap)
        attr = QPAttr(port_num=PORT)
        attr.qp_access_flags = ACCESS
        attr.qkey = QKEY
        self.qp = QP(self.pd, init)
        if kind == e.IBV_QPT_UD:
            self.qp.to_rts(attr)
        else:
            self.qp.to_init(attr)

    def connect(self, other):
        route = GlobalRoute(dgid=other.gid, sgid_index=0)
        attr = QPAttr(port_num=PORT)
        attr.dest_qp_num = other.qp.qp_num
        attr.path_mtu = self.mtu
        attr.max_dest_rd_atomic = attr.max_rd_atomic = 4
        attr.rq_psn = attr.sq_psn = 0xFFFFF0  # the numbers wrap while we look
        attr.min_rnr_timer = 1
        attr.timeout, attr.retry_cnt, attr.rnr_retry = 14, 7, 7
        attr.ah_attr = AHAttr(gr=route, is_global=1, port_num=PORT)
        self.qp.to_rts(attr)

    def fill(self, size, seed):
        self.mr.write(bytes((i * 7 + seed) % 256 for i in range(size)), size)

    def read(self, size, offset=0):
        return self.mr.read(size, offset) if size else b""

    def receive(self, size=ROOM):
        self.qp.post_recv(RecvWR(num_sge=1, sg=[SGE(self.mr.buf, size, self.mr.lkey)]))

    def send(self, opcode, size, target=None, rkey=None, route=None):
        work = SendWR(num_sge=1, sg=[SGE(self.mr.buf, size, self.mr.lkey)], opcode=opcode, send_flags=e.IBV_SEND_SIGNALED)
        work.imm_data = IMM
        if opcode in (e.IBV_WR_RDMA_WRITE, e.IBV_WR_RDMA_WRITE_WITH_IMM, e.IBV_WR_RDMA_READ):
            work.set_wr_rdma(target.mr.rkey if rkey is None else rkey, target.mr.buf)
        if route:
            work.set_wr_ud(route, target.qp.qp_num, QKEY)
        self.qp.post_send(work)


def wait(sides, status=e.IBV_WC_SUCCESS):
    """One completion of each side."""
    end = time.monotonic() + PATIENCE
    waiting = list(sides)
    found = []
    while waiting:
        if time.monotonic() > end:
            sys.exit("a completion is missing")
        for side in list(waiting):
            count, completions = side.cq.poll(1)
            if count:
                waiting.remove(side)
                found += completions
    for completion in found:
        if completion.status != status:
            sys.exit(f"a completion has status {completion.status} instead of {status}")
    return found


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: the data is not what was sent")


def fresh_pair(client, server):
    for side in (client, server):
        side.create(e.IBV_QPT_RC)
    client.connect(server)
    server.connect(client)


def run_rc(client, server):
    fresh_pair(client, server)
    with_receive = [e.IBV_WR_SEND, e.IBV_WR_SEND_WITH_IMM, e.IBV_WR_RDMA_WRITE_WITH_IMM]
    for opcode in with_receive + [e.IBV_WR_RDMA_WRITE, e.IBV_WR_RDMA_READ]:
        for size in SIZES:
            source, sink = (server, client) if opcode == e.IBV_WR_RDMA_READ else (client, server)
            sink.fill(ROOM, 99)
            source.fill(size, opcode + size)
            if opcode in with_receive:
                server.receive()
            client.send(opcode, size, server)
            wait([client, server] if opcode in with_receive else [client])
            expect(f"opcode {opcode}, {size} bytes", sink.read(size), source.read(size))


def run_bulk(client, server):
    fresh_pair(client, server)
    for seed in range(40):
        client.fill(ROOM, seed)
        server.receive()
        client.send(e.IBV_WR_SEND, ROOM)
        wait([client, server])
        expect(f"message {seed}", server.read(ROOM), client.read(ROOM))


def run_naks(client, server):
    fresh_pair(client, server)
    client.send(e.IBV_WR_SEND, 8)
    server.cq.poll(1)  # takes the message in while no receive is posted: RNR NAK
    server.receive()
    wait([client, server])
    client.send(e.IBV_WR_RDMA_WRITE, 8, server, rkey=server.mr.rkey ^ 0x5500)
    wait([client], e.IBV_WC_REM_ACCESS_ERR)
    fresh_pair(client, server)
    server.receive(size=4)
    client.send(e.IBV_WR_SEND, 8)
    wait([client], e.IBV_WC_REM_INV_REQ_ERR)
    wait([server], e.IBV_WC_LOC_LEN_ERR)


def run_ud(client, server):
    for side in (client, server):
        side.create(e.IBV_QPT_UD)
    route = AH(client.pd, attr=AHAttr(gr=GlobalRoute(dgid=server.gid, sgid_index=0), is_global=1, port_num=PORT))
    for opcode in (e.IBV_WR_SEND, e.IBV_WR_SEND_WITH_IMM):
        for size in (size for size in SIZES if size <= 4096):
            server.fill(ROOM, 99)
            client.fill(size, opcode + size)
            server.receive()
            client.send(opcode, size, server, route=route)
            wait([client, server])
            expect(f"datagram of {size} bytes", server.read(size, GRH), client.read(size))


def pause(_client, _server):
    print("pausing", flush=True)
    signal.pause()


PARTS = {"rc": run_rc, "bulk": run_bulk, "nak": run_naks, "ud": run_ud, "pause": pause}


def main(arguments):
    devices, parts = arguments[:2], arguments[2:]
    if not parts or not set(parts) <= PARTS.keys():
        print(__doc__, file=sys.stderr)
        return 2
    sides = [Side(device) for device in devices]
    for part in parts:
        PARTS[part](*sides)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
