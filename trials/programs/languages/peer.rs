// README.md says what it does. The declarations are those of <infiniband/verbs.h> that it needs: posting and polling are
// functions of the context's table there, which C has as inline functions.
use std::env;
use std::ffi::c_void;
use std::io::{self, BufRead, Write};
use std::net::Ipv6Addr;
use std::os::raw::c_int;
use std::ptr::{null, null_mut};
use std::thread;

const SIZE: usize = 1024;
const SENT: u64 = 1 << 32;

#[repr(C)]
struct Context {
    device: *mut c_void,
    ops: [*const c_void; 32],
}

#[repr(C)]
struct Region {
    context: *mut Context,
    pd: *mut c_void,
    addr: *mut c_void,
    length: usize,
    handle: u32,
    lkey: u32,
    rkey: u32,
}

#[repr(C)]
struct QueuePair {
    context: *mut Context,
    qp_context: *mut c_void,
    pd: *mut c_void,
    send_cq: *mut c_void,
    recv_cq: *mut c_void,
    srq: *mut c_void,
    handle: u32,
    qp_num: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Cap {
    max_send_wr: u32,
    max_recv_wr: u32,
    max_send_sge: u32,
    max_recv_sge: u32,
    max_inline_data: u32,
}

#[repr(C)]
struct InitAttr {
    qp_context: *mut c_void,
    send_cq: *mut c_void,
    recv_cq: *mut c_void,
    srq: *mut c_void,
    cap: Cap,
    qp_type: c_int,
    sq_sig_all: c_int,
}

#[repr(C, align(8))]
#[derive(Clone, Copy, Default)]
struct Gid([u8; 16]);

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct AddressHandleAttr {
    dgid: Gid,
    flow_label: u32,
    sgid_index: u8,
    hop_limit: u8,
    traffic_class: u8,
    dlid: u16,
    sl: u8,
    src_path_bits: u8,
    static_rate: u8,
    is_global: u8,
    port_num: u8,
}

#[repr(C)]
#[derive(Default)]
struct Attr {
    qp_state: c_int,
    cur_qp_state: c_int,
    path_mtu: c_int,
    path_mig_state: c_int,
    qkey: u32,
    rq_psn: u32,
    sq_psn: u32,
    dest_qp_num: u32,
    qp_access_flags: u32,
    cap: Cap,
    ah_attr: AddressHandleAttr,
    alt_ah_attr: AddressHandleAttr,
    pkey_index: u16,
    alt_pkey_index: u16,
    en_sqd_async_notify: u8,
    sq_draining: u8,
    max_rd_atomic: u8,
    max_dest_rd_atomic: u8,
    min_rnr_timer: u8,
    port_num: u8,
    timeout: u8,
    retry_cnt: u8,
    rnr_retry: u8,
    alt_port_num: u8,
    alt_timeout: u8,
    rate_limit: u32,
}

#[repr(C)]
struct Sge {
    addr: u64,
    length: u32,
    lkey: u32,
}

#[repr(C)]
struct ReceiveRequest {
    wr_id: u64,
    next: *const ReceiveRequest,
    sg_list: *const Sge,
    num_sge: c_int,
}

#[repr(C)]
struct SendRequest {
    wr_id: u64,
    next: *const SendRequest,
    sg_list: *const Sge,
    num_sge: c_int,
    opcode: c_int,
    send_flags: u32,
    rest: [u64; 12], // larger than the unions that a SEND leaves alone
}

#[repr(C)]
#[derive(Default)]
struct Completion {
    wr_id: u64,
    status: c_int,
    rest: [u32; 9],
}

#[link(name = "ibverbs")]
extern "C" {
    fn ibv_get_device_list(count: *mut c_int) -> *mut *mut c_void;
    fn ibv_open_device(device: *mut c_void) -> *mut Context;
    fn ibv_alloc_pd(context: *mut Context) -> *mut c_void;
    fn ibv_reg_mr(pd: *mut c_void, addr: *mut c_void, length: usize, access: c_int) -> *mut Region;
    fn ibv_create_cq(
        context: *mut Context,
        cqe: c_int,
        cq_context: *mut c_void,
        channel: *mut c_void,
        vector: c_int,
    ) -> *mut c_void;
    fn ibv_query_gid(context: *mut Context, port: u8, index: c_int, gid: *mut Gid) -> c_int;
    fn ibv_create_qp(pd: *mut c_void, attr: *const InitAttr) -> *mut QueuePair;
    fn ibv_modify_qp(qp: *mut QueuePair, attr: *const Attr, mask: c_int) -> c_int;
}

// Places in the table of a context.
const POLL_CQ: usize = 11;
const POST_SEND: usize = 25;
const POST_RECV: usize = 26;

type Poll = extern "C" fn(*mut c_void, c_int, *mut Completion) -> c_int;
type PostSend = extern "C" fn(*mut QueuePair, *const SendRequest, *mut *const SendRequest) -> c_int;
type PostReceive = extern "C" fn(*mut QueuePair, *const ReceiveRequest, *mut *const ReceiveRequest) -> c_int;

fn pattern(from: usize, to: usize, round: usize, i: usize) -> u8 {
    (31 * from + 17 * to + 7 * round + i) as u8
}

struct Connection {
    own: usize,
    peer: usize,
    came: usize,
    memory: Box<[[u8; SIZE]; 3]>, // two to receive into, one to send from
    mr: *mut Region,
    qp: *mut QueuePair,
}

impl Connection {
    unsafe fn new(pd: *mut c_void, cq: *mut c_void, own: usize, peer: usize) -> Connection {
        let mut memory = Box::new([[0u8; SIZE]; 3]);
        let mr = ibv_reg_mr(pd, memory.as_mut_ptr() as *mut c_void, 3 * SIZE, 1);
        let cap = Cap { max_send_wr: 2, max_recv_wr: 2, max_send_sge: 1, max_recv_sge: 1, max_inline_data: 0 };
        let init = InitAttr {
            qp_context: null_mut(),
            send_cq: cq,
            recv_cq: cq,
            srq: null_mut(),
            cap,
            qp_type: 2,
            sq_sig_all: 0,
        };
        let qp = ibv_create_qp(pd, &init);
        assert!(!mr.is_null() && !qp.is_null(), "a region and a queue pair");
        Connection { own, peer, came: 0, memory, mr, qp }
    }

    unsafe fn connect(&mut self, number: u32, gid: Gid, index: u8) {
        let mut attr = Attr { qp_state: 1, port_num: 1, ..Attr::default() };
        assert_eq!(ibv_modify_qp(self.qp, &attr, 1 | 1 << 3 | 1 << 4 | 1 << 5), 0, "INIT");
        self.receive(0);
        self.receive(1);
        attr.qp_state = 2;
        attr.path_mtu = 3;
        attr.dest_qp_num = number;
        attr.max_dest_rd_atomic = 1;
        attr.min_rnr_timer = 12;
        attr.ah_attr = AddressHandleAttr {
            dgid: gid,
            sgid_index: index,
            hop_limit: 64,
            is_global: 1,
            port_num: 1,
            ..AddressHandleAttr::default()
        };
        let mask = 1 | 1 << 7 | 1 << 8 | 1 << 20 | 1 << 12 | 1 << 17 | 1 << 15;
        assert_eq!(ibv_modify_qp(self.qp, &attr, mask), 0, "RTR");
        attr.qp_state = 3;
        attr.timeout = 14;
        attr.retry_cnt = 7;
        attr.rnr_retry = 7;
        attr.max_rd_atomic = 1;
        let mask = 1 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 16 | 1 << 13;
        assert_eq!(ibv_modify_qp(self.qp, &attr, mask), 0, "RTS");
    }

    unsafe fn sge(&self, slot: usize) -> Sge {
        Sge { addr: self.memory[slot].as_ptr() as u64, length: SIZE as u32, lkey: (*self.mr).lkey }
    }

    unsafe fn receive(&self, slot: usize) {
        let sge = self.sge(slot);
        let request = ReceiveRequest { wr_id: self.peer as u64, next: null(), sg_list: &sge, num_sge: 1 };
        let post: PostReceive = std::mem::transmute((*(*self.qp).context).ops[POST_RECV]);
        let mut bad = null();
        assert_eq!(post(self.qp, &request, &mut bad), 0, "post_recv");
    }

    unsafe fn send(&mut self, round: usize) {
        for i in 0..SIZE {
            self.memory[2][i] = pattern(self.own, self.peer, round, i);
        }
        let sge = self.sge(2);
        let request = SendRequest {
            wr_id: SENT,
            next: null(),
            sg_list: &sge,
            num_sge: 1,
            opcode: 2,
            send_flags: 2,
            rest: [0; 12],
        };
        let post: PostSend = std::mem::transmute((*(*self.qp).context).ops[POST_SEND]);
        let mut bad = null();
        assert_eq!(post(self.qp, &request, &mut bad), 0, "post_send");
    }

    /// A message has come: checks it, and returns its round.
    unsafe fn take(&mut self) -> usize {
        let round = self.came;
        self.came += 1;
        for i in 0..SIZE {
            // The NIC has written it.
            let byte = std::ptr::read_volatile(&self.memory[round % 2][i]);
            assert_eq!(byte, pattern(self.peer, self.own, round, i), "byte {} of {}", i, self.peer);
        }
        self.receive(round % 2);
        round
    }
}

fn line() -> Vec<u32> {
    let mut text = String::new();
    io::stdin().lock().read_line(&mut text).expect("a line");
    text.split_whitespace().skip(1).map(|word| word.parse().expect("a number")).collect()
}

fn say(text: &str) {
    println!("{}", text);
    io::stdout().flush().expect("an output");
}

unsafe fn run(own: usize, count: usize, index: u8, rounds: usize) {
    let mut devices: c_int = 0;
    let list = ibv_get_device_list(&mut devices);
    assert!(!list.is_null() && devices > 0, "a device");
    let context = ibv_open_device(*list);
    assert!(!context.is_null(), "ibv_open_device");
    let pd = ibv_alloc_pd(context);
    let cq = ibv_create_cq(context, 4 * count as c_int, null_mut(), null_mut(), 0);
    let mut gid = Gid::default();
    assert_eq!(ibv_query_gid(context, 1, index as c_int, &mut gid), 0, "ibv_query_gid");
    let mut peers: Vec<Option<Connection>> =
        (0..count).map(|peer| if peer == own { None } else { Some(Connection::new(pd, cq, own, peer)) }).collect();
    let mut text = format!("ready {}", Ipv6Addr::from(gid.0));
    for peer in &peers {
        text += &format!(" {}", peer.as_ref().map_or(0, |peer| (*peer.qp).qp_num));
    }
    say(&text);
    for (peer, number) in peers.iter_mut().zip(line()) {
        if let Some(peer) = peer {
            peer.connect(number, gid, index);
        }
    }
    say("connected");
    line();
    let poll: Poll = std::mem::transmute((*context).ops[POLL_CQ]);
    let mut messages = 0;
    for round in 0..rounds {
        // Completions: of what it sends, and of the messages of this round that have not come before.
        let mut awaited = 0;
        for peer in peers.iter_mut().flatten() {
            peer.send(round);
            awaited += if peer.came == round { 2 } else { 1 };
        }
        while awaited > 0 {
            let mut completion = Completion::default();
            if poll(cq, 1, &mut completion) == 0 {
                thread::yield_now();
                continue;
            }
            assert_eq!(completion.status, 0, "the status of a completion");
            if completion.wr_id == SENT {
                awaited -= 1;
                continue;
            }
            let peer = peers[completion.wr_id as usize].as_mut().expect("another process");
            if peer.take() == round {
                awaited -= 1;
            }
            messages += 1;
        }
    }
    say(&format!("done {}", messages));
    for _ in io::stdin().lock().lines() {}
}

fn main() {
    let arguments: Vec<usize> = env::args().skip(1).map(|word| word.parse().expect("a number")).collect();
    unsafe { run(arguments[0], arguments[1], arguments[2] as u8, arguments[3]) }
}
