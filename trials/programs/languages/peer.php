<?php
// README.md says what it does.

const SIZE = 1024, SLOTS = 3, SENT = 1000;  // of each peer: two slots to receive into, one to send from
const RC = 2, SEND = 2, SIGNALED = 2, LOCAL_WRITE = 1, MTU_1024 = 3;
const INIT = 1, RTR = 2, RTS = 3;
const MASK = [
    INIT => 0x1 | 0x8 | 0x10 | 0x20,  // STATE, ACCESS_FLAGS, PKEY_INDEX, PORT
    RTR => 0x1 | 0x80 | 0x100 | 0x1000 | 0x8000 | 0x20000 | 0x100000,  // AV, PATH_MTU, RQ_PSN, MIN_RNR_TIMER, MAX_DEST_RD_ATOMIC, DEST_QPN
    RTS => 0x1 | 0x200 | 0x400 | 0x800 | 0x2000 | 0x10000,  // TIMEOUT, RETRY_CNT, RNR_RETRY, MAX_QP_RD_ATOMIC, SQ_PSN
];

function need(?FFI\CData $pointer, string $what): FFI\CData
{
    return $pointer !== null && !FFI::isNull($pointer) ? $pointer : throw new Exception($what);
}

function check(int $status, string $what): void
{
    if ($status !== 0) throw new Exception("$what: $status");
}

function pattern(int $from, int $to, int $round): string
{
    static $all = null;
    $all ??= implode('', array_map(fn($i) => chr($i & 255), range(0, SIZE + 255)));
    return substr($all, (31 * $from + 17 * $to + 7 * $round) & 255, SIZE);
}

$verbs = FFI::cdef(file_get_contents(__DIR__ . '/verbs.cdef'), 'libibverbs.so.1');
$libc = FFI::cdef('int sched_yield(void);', 'libc.so.6');
[, $own, $count, $index, $rounds] = array_map('intval', $argv);

$devices = need($verbs->ibv_get_device_list(null), 'no devices');
$context = need($verbs->ibv_open_device($devices[0]), 'ibv_open_device');
$pd = need($verbs->ibv_alloc_pd($context), 'ibv_alloc_pd');
$memory = $verbs->new('uint8_t[' . $count * SLOTS * SIZE . ']');
$mr = need($verbs->ibv_reg_mr($pd, FFI::addr($memory), $count * SLOTS * SIZE, LOCAL_WRITE), 'ibv_reg_mr');
$cq = need($verbs->ibv_create_cq($context, 4 * $count, null, null, 0), 'ibv_create_cq');
$gid = $verbs->new('union ibv_gid');
check($verbs->ibv_query_gid($context, 1, $index, FFI::addr($gid)), 'ibv_query_gid');

$sge = $verbs->new('struct ibv_sge[1]');
$recv = $verbs->new('struct ibv_recv_wr[1]');
$send = $verbs->new('struct ibv_send_wr[1]');
$badRecv = $verbs->new('struct ibv_recv_wr *[1]');
$badSend = $verbs->new('struct ibv_send_wr *[1]');
$base = $verbs->cast('uintptr_t', FFI::addr($memory))->cdata;
$qps = $came = [];

$slot = function (int $peer, int $which) use ($sge, $base, $mr): void {
    $sge[0]->addr = $base + ($peer * SLOTS + $which) * SIZE;
    $sge[0]->length = SIZE;
    $sge[0]->lkey = $mr->lkey;
};
$receive = function (int $peer, int $which) use (&$qps, $slot, $recv, $sge, $badRecv, $context): void {
    $slot($peer, $which);
    $recv[0]->wr_id = $peer;
    $recv[0]->sg_list = FFI::addr($sge[0]);
    $recv[0]->num_sge = 1;
    check(($context->post_recv)($qps[$peer], FFI::addr($recv[0]), FFI::addr($badRecv[0])), 'ibv_post_recv');
};
$sendTo = function (int $peer, int $round) use (&$qps, $own, $slot, $send, $sge, $badSend, $context, $memory): void {
    $slot($peer, 2);
    FFI::memcpy(FFI::addr($memory[($peer * SLOTS + 2) * SIZE]), pattern($own, $peer, $round), SIZE);
    $send[0]->wr_id = SENT;
    $send[0]->sg_list = FFI::addr($sge[0]);
    $send[0]->num_sge = 1;
    $send[0]->opcode = SEND;
    $send[0]->send_flags = SIGNALED;
    check(($context->post_send)($qps[$peer], FFI::addr($send[0]), FFI::addr($badSend[0])), 'ibv_post_send');
};
$connect = function (int $peer, int $number) use (&$qps, $verbs, $receive, $gid, $index): void {
    $attr = $verbs->new('struct ibv_qp_attr');
    $attr->qp_state = INIT;
    $attr->port_num = 1;
    check($verbs->ibv_modify_qp($qps[$peer], FFI::addr($attr), MASK[INIT]), 'INIT');
    $receive($peer, 0);
    $receive($peer, 1);
    $attr->qp_state = RTR;
    $attr->path_mtu = MTU_1024;
    $attr->dest_qp_num = $number;
    $attr->max_dest_rd_atomic = 1;
    $attr->min_rnr_timer = 12;
    $attr->ah_attr->dgid = $gid;
    $attr->ah_attr->sgid_index = $index;
    $attr->ah_attr->hop_limit = 64;
    $attr->ah_attr->is_global = 1;
    $attr->ah_attr->port_num = 1;
    check($verbs->ibv_modify_qp($qps[$peer], FFI::addr($attr), MASK[RTR]), 'RTR');
    $attr->qp_state = RTS;
    $attr->timeout = 14;
    $attr->retry_cnt = 7;
    $attr->rnr_retry = 7;
    $attr->max_rd_atomic = 1;
    check($verbs->ibv_modify_qp($qps[$peer], FFI::addr($attr), MASK[RTS]), 'RTS');
};

$numbers = [];
for ($peer = 0; $peer < $count; $peer++) {
    if ($peer !== $own) {
        $init = $verbs->new('struct ibv_qp_init_attr');
        $init->send_cq = $init->recv_cq = $cq;
        $init->qp_type = RC;
        $init->cap->max_send_wr = $init->cap->max_recv_wr = 2;
        $init->cap->max_send_sge = $init->cap->max_recv_sge = 1;
        $qps[$peer] = need($verbs->ibv_create_qp($pd, FFI::addr($init)), 'ibv_create_qp');
        $came[$peer] = 0;
    }
    $numbers[] = $peer === $own ? 0 : $qps[$peer]->qp_num;
}
echo 'ready ', inet_ntop(FFI::string(FFI::addr($gid->raw[0]), 16)), ' ', implode(' ', $numbers), "\n";
foreach (array_slice(explode(' ', trim(fgets(STDIN))), 1) as $peer => $number) {
    if ($peer !== $own) $connect($peer, (int) $number);
}
echo "connected\n";
fgets(STDIN);
$messages = 0;
$wc = $verbs->new('struct ibv_wc[8]');
for ($round = 0; $round < $rounds; $round++) {
    $awaited = 0;  // completions: of what it sends, and of the messages of this round that have not come before
    foreach ($came as $peer => $soFar) {
        $awaited += $soFar === $round ? 2 : 1;
        $sendTo($peer, $round);
    }
    while ($awaited > 0) {
        $got = ($context->poll_cq)($cq, 8, FFI::addr($wc[0]));
        if ($got === 0) $libc->sched_yield();
        for ($i = 0; $i < $got; $i++) {
            if ($wc[$i]->status !== 0) throw new Exception($verbs->ibv_wc_status_str($wc[$i]->status));
            $peer = $wc[$i]->wr_id;
            if ($peer === SENT) {
                $awaited--;
                continue;
            }
            $turn = $came[$peer]++;
            if ($turn === $round) $awaited--;
            $at = FFI::string(FFI::addr($memory[($peer * SLOTS + $turn % 2) * SIZE]), SIZE);
            if ($at !== pattern($peer, $own, $turn)) throw new Exception("a byte of $peer is wrong");
            $receive($peer, $turn % 2);
            $messages++;
        }
    }
}
echo "done $messages\n";
stream_get_contents(STDIN);
