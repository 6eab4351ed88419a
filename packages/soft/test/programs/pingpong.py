"""Round trips by pyverbs over RC, at the first GID of the device: pingpong.py PORT COUNT, the server; pingpong.py PORT
COUNT HOST, its client. The two exchange their addresses over TCP, and each checks what it receives."""
import json
import os
import socket
import sys

import pyverbs.enums as e
from pyverbs.addr import AHAttr, GID, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import RecvWR, SGE, SendWR

SIZE = 3000


class End:
    """A queue pair, with memory for a message to send and for one that comes."""

    def __init__(self):
        self.context = Context(name='soft0')
        self.pd = PD(self.context)
        self.cq = CQ(self.context, 8)
        init = QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq, cap=QPCap(max_send_wr=2, max_recv_wr=2))
        self.qp = QP(self.pd, init)
        self.mr = MR(self.pd, 2 * SIZE, e.IBV_ACCESS_LOCAL_WRITE)
        self.own = {'qpn': self.qp.qp_num, 'gid': self.context.query_gid(1, 0).gid}

    def connect(self, peer):
        attr = QPAttr()
        attr.dest_qp_num = peer['qpn']
        attr.path_mtu = e.IBV_MTU_1024
        attr.min_rnr_timer = 12
        attr.timeout, attr.retry_cnt, attr.rnr_retry = 14, 7, 7
        attr.ah_attr = AHAttr(port_num=1, is_global=1, gr=GlobalRoute(dgid=GID(peer['gid']), sgid_index=0))
        self.qp.to_rts(attr)
        self.receive()

    def receive(self):
        self.qp.post_recv(RecvWR(num_sge=1, sg=[SGE(self.mr.buf + SIZE, SIZE, self.mr.lkey)]))

    def send(self, number):
        self.mr.write(message(number), SIZE)
        self.qp.post_send(SendWR(num_sge=1, sg=[SGE(self.mr.buf, SIZE, self.mr.lkey)]))

    def complete(self, count):
        while count > 0:
            # There may be more programs than processors.
            os.sched_yield()
            for completion in self.cq.poll(count)[1]:
                if completion.status != e.IBV_WC_SUCCESS:
                    raise SystemExit(f'status {completion.status}')
                count -= 1

    def exchange(self, number, first):
        """One message each way."""
        if first:
            self.send(number)
            self.complete(2)
        else:
            self.complete(1)
        if self.mr.read(SIZE, SIZE) != message(number).encode():
            raise SystemExit(f'message {number} is another one')
        self.receive()
        if not first:
            self.send(number)
            self.complete(1)


def message(number):
    return f'{number:06d}' * (SIZE // 6)


def meet(port, host):
    """The connection to the other program."""
    if host:
        return socket.create_connection((host, port))
    with socket.create_server(('', port)) as server:
        print('listening', flush=True)
        return server.accept()[0]


port, count, *rest = sys.argv[1:]
end = End()
with meet(int(port), rest[0] if rest else None) as other:
    told, lines = other.makefile('w'), other.makefile('r')
    print(json.dumps(end.own), file=told, flush=True)
    end.connect(json.loads(lines.readline()))
    # Both can receive.
    print('ready', file=told, flush=True)
    lines.readline()
    for i in range(int(count)):
        end.exchange(i, bool(rest))
print(count, 'round trips')
