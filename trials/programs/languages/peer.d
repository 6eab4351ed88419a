// README.md says what it does.
module peer;

import core.stdc.stdio : stdin, fgetc, EOF;
import std.algorithm : map, splitter;
import std.array : array;
import std.conv : to;
import std.exception : enforce;
import std.stdio : readln, stdout, write, writeln;
import std.string : fromStringz, strip;

// The part of libibverbs that it uses, as its ABI has it on 64-bit machines.
extern (C) nothrow {
    struct Device;
    struct Pd;
    struct Cq;
    union Gid { ubyte[16] raw; ulong[2] global; }
    struct Sge { ulong addr; uint length; uint lkey; }
    struct RecvWr { ulong wrId; RecvWr* next; Sge* sgList; int numSge; }
    struct SendWr {
        ulong wrId; SendWr* next; Sge* sgList; int numSge; int opcode; uint sendFlags; uint immData; ulong[11] other;
    }
    struct Wc {
        ulong wrId; int status; int opcode; uint vendorErr; uint byteLen; uint immData; uint qpNum; uint srcQp;
        uint wcFlags; ushort pkeyIndex; ushort slid; ubyte sl; ubyte dlidPathBits;
    }
    struct Mr { Context* context; Pd* pd; void* addr; size_t length; uint handle; uint lkey; uint rkey; }
    struct Qp { Context* context; void* qpContext; Pd* pd; Cq* sendCq; Cq* recvCq; void* srq; uint handle; uint qpNum; }
    struct Context {
        Device* device;
        void*[11] beforePollCq;
        int function(Cq*, int, Wc*) pollCq;
        void*[13] beforePostSend;
        int function(Qp*, SendWr*, SendWr**) postSend;
        int function(Qp*, RecvWr*, RecvWr**) postRecv;
    }
    struct QpCap { uint maxSendWr; uint maxRecvWr; uint maxSendSge; uint maxRecvSge; uint maxInlineData; }
    struct QpInitAttr { void* qpContext; Cq* sendCq; Cq* recvCq; void* srq; QpCap cap; int qpType; int sqSigAll; }
    struct AhAttr {
        Gid dgid; uint flowLabel; ubyte sgidIndex; ubyte hopLimit; ubyte trafficClass; ushort dlid; ubyte sl;
        ubyte srcPathBits; ubyte staticRate; ubyte isGlobal; ubyte portNum;
    }
    struct QpAttr {
        int qpState; int curQpState; int pathMtu; int pathMigState; uint qkey; uint rqPsn; uint sqPsn; uint destQpNum;
        uint qpAccessFlags; QpCap cap; AhAttr ahAttr; AhAttr altAhAttr; ushort pkeyIndex; ushort altPkeyIndex;
        ubyte enSqdAsyncNotify; ubyte sqDraining; ubyte maxRdAtomic; ubyte maxDestRdAtomic; ubyte minRnrTimer;
        ubyte portNum; ubyte timeout; ubyte retryCnt; ubyte rnrRetry; ubyte altPortNum; ubyte altTimeout; uint rateLimit;
    }
    Device** ibv_get_device_list(int*);
    Context* ibv_open_device(Device*);
    Pd* ibv_alloc_pd(Context*);
    Mr* ibv_reg_mr(Pd*, void*, size_t, int);
    Cq* ibv_create_cq(Context*, int, void*, void*, int);
    int ibv_query_gid(Context*, ubyte, int, Gid*);
    Qp* ibv_create_qp(Pd*, QpInitAttr*);
    int ibv_modify_qp(Qp*, QpAttr*, int);
    const(char)* ibv_wc_status_str(int);
    int sched_yield();
    const(char)* inet_ntop(int, const void*, char*, uint);
}
static assert(AhAttr.sizeof == 32 && QpAttr.sizeof == 144 && SendWr.sizeof == 128 && Wc.sizeof == 48);

enum size = 1024, slots = 3, sent = 1000; // of each peer: two slots to receive into, one to send from
enum RC = 2, SEND = 2, SIGNALED = 2, LOCAL_WRITE = 1, MTU_1024 = 3, INIT = 1, RTR = 2, RTS = 3;
enum { STATE = 1, ACCESS_FLAGS = 8, PKEY_INDEX = 16, PORT = 32, AV = 128, PATH_MTU = 256, TIMEOUT = 512, RETRY_CNT = 1024,
    RNR_RETRY = 2048, RQ_PSN = 4096, MAX_RD_ATOMIC = 8192, MIN_RNR_TIMER = 32_768, SQ_PSN = 65_536,
    MAX_DEST_RD_ATOMIC = 131_072, DEST_QPN = 1_048_576 }

ubyte pattern(int from, int to, int round, size_t i) { return cast(ubyte)(31 * from + 17 * to + 7 * round + i); }

struct Peer {
    int number;
    int came;
    Context* context;
    Qp* qp;
    Mr* mr;
    ubyte[] memory;

    Sge slot(size_t which) { return Sge(cast(ulong)&memory[which * size], size, mr.lkey); }

    void receive(size_t which) {
        auto sge = slot(which);
        auto wr = RecvWr(number, null, &sge, 1);
        RecvWr* bad;
        enforce(context.postRecv(qp, &wr, &bad) == 0, "ibv_post_recv");
    }

    void send(int own, int round) {
        foreach (i, ref each; memory[2 * size .. 3 * size]) each = pattern(own, number, round, i);
        auto sge = slot(2);
        auto wr = SendWr(sent, null, &sge, 1, SEND, SIGNALED);
        SendWr* bad;
        enforce(context.postSend(qp, &wr, &bad) == 0, "ibv_post_send");
    }

    /// A message has come: checks it, and returns its round.
    int take(int own) {
        const round = came++;
        const which = round % 2;
        foreach (i, each; memory[which * size .. (which + 1) * size])
            enforce(each == pattern(number, own, round, i), "a byte of " ~ number.to!string ~ " is wrong");
        receive(which);
        return round;
    }

    void connect(uint qpNum, Gid gid, ubyte index) {
        QpAttr attr;
        attr.qpState = INIT;
        attr.portNum = 1;
        enforce(ibv_modify_qp(qp, &attr, STATE | ACCESS_FLAGS | PKEY_INDEX | PORT) == 0, "INIT");
        receive(0);
        receive(1);
        attr.qpState = RTR;
        attr.pathMtu = MTU_1024;
        attr.destQpNum = qpNum;
        attr.maxDestRdAtomic = 1;
        attr.minRnrTimer = 12;
        attr.ahAttr.dgid = gid;
        attr.ahAttr.sgidIndex = index;
        attr.ahAttr.hopLimit = 64;
        attr.ahAttr.isGlobal = attr.ahAttr.portNum = 1;
        enforce(ibv_modify_qp(qp, &attr, STATE | AV | PATH_MTU | DEST_QPN | RQ_PSN | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER) == 0,
            "RTR");
        attr.qpState = RTS;
        attr.timeout = 14;
        attr.retryCnt = attr.rnrRetry = 7;
        attr.maxRdAtomic = 1;
        enforce(ibv_modify_qp(qp, &attr, STATE | TIMEOUT | RETRY_CNT | RNR_RETRY | SQ_PSN | MAX_RD_ATOMIC) == 0, "RTS");
    }
}

void main(string[] args) {
    const own = args[1].to!int, count = args[2].to!int, rounds = args[4].to!int;
    const index = args[3].to!ubyte;
    auto devices = enforce(ibv_get_device_list(null), "no devices");
    auto context = enforce(ibv_open_device(devices[0]), "ibv_open_device");
    auto pd = enforce(ibv_alloc_pd(context), "ibv_alloc_pd");
    auto memory = new ubyte[count * slots * size];
    auto mr = enforce(ibv_reg_mr(pd, memory.ptr, memory.length, LOCAL_WRITE), "ibv_reg_mr");
    auto cq = enforce(ibv_create_cq(context, 4 * count, null, null, 0), "ibv_create_cq");
    Gid gid;
    enforce(ibv_query_gid(context, 1, index, &gid) == 0, "ibv_query_gid");

    auto peers = new Peer[count];
    char[46] text;
    write("ready ", inet_ntop(10, &gid, text.ptr, text.length).fromStringz);
    foreach (i, ref peer; peers) {
        const number = cast(int) i;
        auto init = QpInitAttr(null, cq, cq, null, QpCap(2, 2, 1, 1, 0), RC, 0);
        auto qp = number == own ? null : enforce(ibv_create_qp(pd, &init), "ibv_create_qp");
        peer = Peer(number, 0, context, qp, mr, memory[number * slots * size .. (number + 1) * slots * size]);
        write(" ", qp is null ? 0 : qp.qpNum);
    }
    writeln();
    stdout.flush();
    foreach (number, qpNum; readln().strip.splitter(' ').array[1 .. $].map!(to!uint).array)
        if (number != own) peers[number].connect(qpNum, gid, index);
    writeln("connected");
    stdout.flush();
    readln();
    int messages;
    Wc[8] wc;
    foreach (round; 0 .. rounds) {
        int awaited; // completions: of what it sends, and of the messages of this round that have not come before
        foreach (ref peer; peers) {
            if (peer.number == own) continue;
            awaited += peer.came == round ? 2 : 1;
            peer.send(own, round);
        }
        while (awaited > 0) {
            const got = context.pollCq(cq, wc.length, wc.ptr);
            if (got == 0) sched_yield();
            foreach (ref each; wc[0 .. got]) {
                enforce(each.status == 0, ibv_wc_status_str(each.status).fromStringz.idup);
                if (each.wrId == sent) {
                    --awaited;
                    continue;
                }
                if (peers[each.wrId].take(own) == round) --awaited;
                ++messages;
            }
        }
    }
    writeln("done ", messages);
    stdout.flush();
    while (fgetc(stdin) != EOF) {}
}
