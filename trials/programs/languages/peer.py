"""README.md says what it does."""
import os
import sys

import pyverbs.enums as e
from pyverbs.addr import AHAttr, GID, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import RecvWR, SGE, SendWR

SIZE = 1024
SENT = 1 << 32


def pattern(sender, receiver, turn):
    first = 31 * sender + 17 * receiver + 7 * turn
    return bytes((first + i) & 255 for i in range(SIZE))


class Connection:
    """With memory for two messages that come, and one that goes."""

    def __init__(self, pd, cq, own, peer):
        self.own, self.peer, self.came = own, peer, 0
        self.mr = MR(pd, 3 * SIZE, e.IBV_ACCESS_LOCAL_WRITE)
        cap = QPCap(max_send_wr=2, max_recv_wr=2)
        self.qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=cap))

    def connect(self, number, gid, index):
        attr = QPAttr(port_num=1)
        attr.dest_qp_num = number
        attr.path_mtu = e.IBV_MTU_1024
        attr.max_dest_rd_atomic = attr.max_rd_atomic = 1
        attr.min_rnr_timer = 12
        attr.timeout, attr.retry_cnt, attr.rnr_retry = 14, 7, 7
        attr.ah_attr = AHAttr(port_num=1, is_global=1, gr=GlobalRoute(dgid=GID(gid), sgid_index=index))
        self.qp.to_rts(attr)
        self.receive(0)
        self.receive(1)

    def sge(self, slot):
        return [SGE(self.mr.buf + slot * SIZE, SIZE, self.mr.lkey)]

    def receive(self, slot):
        self.qp.post_recv(RecvWR(wr_id=self.peer, num_sge=1, sg=self.sge(slot)))

    def send(self, turn):
        self.mr.write(pattern(self.own, self.peer, turn), SIZE, 2 * SIZE)
        self.qp.post_send(SendWR(wr_id=SENT, num_sge=1, sg=self.sge(2), send_flags=e.IBV_SEND_SIGNALED))

    def take(self):
        """A message has come: checks it, and returns its round."""
        turn, self.came = self.came, self.came + 1
        if self.mr.read(SIZE, turn % 2 * SIZE) != pattern(self.peer, self.own, turn):
            raise SystemExit(f'a byte of {self.peer} is wrong')
        self.receive(turn % 2)
        return turn


own, count, index, rounds = map(int, sys.argv[1:])
context = Context(name=get_device_list()[0].name.decode())
pd, cq = PD(context), CQ(context, 4 * count)
gid = context.query_gid(1, index).gid
peers = [None if peer == own else Connection(pd, cq, own, peer) for peer in range(count)]
print('ready', gid, *(peer.qp.qp_num if peer else 0 for peer in peers), flush=True)
for peer, number in zip(peers, sys.stdin.readline().split()[1:]):
    if peer:
        peer.connect(int(number), gid, index)
print('connected', flush=True)
sys.stdin.readline()
messages = 0
others = [peer for peer in peers if peer]
for turn in range(rounds):
    # Completions: of what it sends, and of the messages of this round that have not come before.
    awaited = sum(2 if peer.came == turn else 1 for peer in others)
    for peer in others:
        peer.send(turn)
    while awaited > 0:
        got, completions = cq.poll(8)
        if got == 0:
            os.sched_yield()
        for completion in completions:
            if completion.status != e.IBV_WC_SUCCESS:
                raise SystemExit(f'status {completion.status}')
            if completion.wr_id == SENT:
                awaited -= 1
                continue
            awaited -= peers[completion.wr_id].take() == turn
            messages += 1
print('done', messages, flush=True)
sys.stdin.read()
