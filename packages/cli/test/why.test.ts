import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Outcome, Verbs, verbs } from './verbs.js';

const SOURCE = fileURLToPath(new URL('programs/wrong.c', import.meta.url));
const OBJECTS = fileURLToPath(new URL('programs/refused-objects.c', import.meta.url));
const SCRIPT = fileURLToPath(new URL('programs/wrong.mjs', import.meta.url));

let directory: string;
let wrong: string;
let refused: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'verbs-why-'));
  wrong = join(directory, 'wrong');
  execFileSync('cc', ['-o', wrong, SOURCE, '-libverbs']);
  refused = join(directory, 'refused');
  execFileSync('cc', ['-o', refused, OBJECTS, '-libverbs']);
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** A reason as `--json` has it. */
type Reported = Record<string, unknown> & { peers?: Record<string, string>; values: Record<string, string> };

/** An address of this test's own: the packets of other programs of this user, which vanish too, are for others. */
const ADDRESS = `127.${64 + (process.pid & 63)}.${(process.pid >> 6) & 255}.9`;
const DEVICE = ['--device', `soft0,mtu=1024,addr=${ADDRESS}`];

const why = (...args: string[]): Promise<Outcome> => verbs(['why', ...DEVICE, ...args]);

/** What a program was told, its status, and the summary. */
async function told(...command: string[]) {
  const file = join(mkdtempSync(join(directory, 'run-')), 'why.jsonl');
  const outcome = await why('--json', '-o', file, '--', ...command);
  const lines = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Reported);
  const summary = (lines.pop() as unknown as { summary: { reason: string; count: string; exact: boolean }[] }).summary;
  return { ...outcome, reasons: lines, summary };
}

/** Of a queue pair: the processes of a user that share an address have numbers of their own. */
const NUMBER = expect.any(Number) as number;
const NEEDS = 'the step from INIT to RTR of RC';

/** The mistakes of a C program, with what it is told: the reason, where it comes from, and the sentence. */
const MISTAKES: readonly [mistake: string, reason: string, from: object, text: RegExp][] = [
  ['no-port', 'missing_attributes', modify(), /from RESET to INIT of RC needs IBV_QP_PORT \(port_num\), too$/],
  ['no-address', 'missing_attributes', modify(), new RegExp(`^${NEEDS} needs IBV_QP_AV \\(ah_attr\\), too$`)],
  ['superfluous', 'extra_attributes', modify(), new RegExp(`^${NEEDS} does not take IBV_QP_TIMEOUT$`)],
  ['no-grh', 'no_grh', modify(), /no global route/],
  ['wrong-port', 'no_such_port', modify(), /IBV_QP_AV \(ah_attr\) names port 2, and the last port of the device is 1$/],
  ['large-mtu', 'large_mtu', modify(), /^path_mtu is 4096, and the active MTU of the port is 1024$/],
  ['reset-to-rtr', 'no_transition', modify(), /has no step from RESET to RTR$/],
  ['second-connect', 'no_transition', modify(), /has no step from RTS to RTR$/],
  ['queue-pair-access', 'qp_right', responder('invalid request'), /lacks REMOTE_WRITE: it is LOCAL_WRITE$/],
  ['region-access', 'region_right', responder('remote access error'), /region of R_Key 0x\w+ lacks REMOTE_WRITE/],
  [
    'short-region',
    'beyond_region',
    responder('remote access error'),
    /for 64 bytes at 0x\w+, and 12 of them are outside/,
  ],
  [
    'short-receive',
    'short_receive',
    responder('invalid request'),
    /receive request of 16 bytes is too short for .* 64$/,
  ],
  [
    'other-mtus',
    'packet_length',
    responder('invalid request'),
    /^the packets have 512 bytes of payload, and the path MTU of this queue pair is 1024$/,
  ],
  ['wrong-lkey', 'unknown_lkey', completion('LOC_PROT_ERR'), /no memory region has the L_Key 0x\w+ of element 0/],
  ['no-receive', 'no_receive_at_peer', completion('RNR_RETRY_EXC_ERR'), /no receive request posted.*rnr_retry is 1/],
  ['nobody', 'no_answer', completion('RETRY_EXC_ERR'), /did not answer.*retry_cnt is 2, each after 1.05 ms/],
  ['read-on-datagram', 'operation_missing', completion('LOC_QP_OP_ERR'), /type UD has no RDMA_READ$/],
  ['wrong-qkey', 'drop_qkey', dropped(), /has the Q_Key 0x2222, and the queue pair has 0x1111$/],
  ['no-datagram-receive', 'drop_no_receive', dropped(), /^no receive request is posted for the message of 64 bytes$/],
  ['unknown-queue-pair', 'drop_unknown_qp', { place: 'arrival' }, /no queue pair here has the number 0xabcdef$/],
  [
    'group-by-number',
    'drop_group_qpn',
    { place: 'arrival' },
    /^the datagram is for a multicast group, and names queue pair 0x\w+ instead of 0xffffff$/,
  ],
  ['no-room', 'drop_no_room', { place: 'responder', status: 'LOC_LEN_ERR' }, /room for 64 .* needs 104: 40 for/],
  ['post-in-reset', 'send_state', post(), /is in RESET and takes send requests from RTS on$/],
  ['many-elements', 'too_many_sges', post(), /has 2 scatter\/gather elements, and the queue takes 1$/],
  ['long-inline', 'long_inline', post(), /has 300 bytes and IBV_SEND_INLINE, and the queue pair takes 32$/],
];

function modify() {
  return { place: 'call', call: 'ibv_modify_qp', errno: 22 };
}
function post() {
  return { place: 'call', call: 'ibv_post_send', errno: 22, wrId: '5' };
}
function responder(nak: string) {
  return { place: 'responder', nak, qpNum: NUMBER, peerQpNum: NUMBER };
}
function completion(status: string) {
  return { place: 'completion', call: 'ibv_poll_cq', status, qpNum: NUMBER, wrId: '5' };
}
function dropped() {
  return { place: 'arrival', qpNum: NUMBER, peerQpNum: NUMBER };
}

/** Calls that create something, or join a group, with the reason why they are refused. */
const REFUSED: readonly [call: string, function_: string, reason: string, text: RegExp][] = [
  ['no-cq-entries', 'ibv_create_cq', 'cq_entries', /^cqe is 0, and a completion queue has 1 to \d+ entries$/],
  ['vector', 'ibv_create_cq', 'comp_vector', /^comp_vector is 999, and the context has \d+, from 0$/],
  ['no-recv-cq', 'ibv_create_qp', 'qp_parts', /^the protection domain or a completion queue is missing$/],
  [
    'large-srq',
    'ibv_create_srq',
    'srq_limit',
    /^the queue is to have 1073741824 requests of 1 elements, and the device/,
  ],
  ['srq-without-cq', 'ibv_create_srq', 'srq_parts', /^an attribute of the shared receive queue is missing/],
  [
    'group-of-connection',
    'ibv_attach_mcast',
    'group_type',
    /^the queue pair is of type RC, and groups are for datagrams$/,
  ],
  ['no-group', 'ibv_attach_mcast', 'no_group', /^the GID is no multicast group$/],
  ['not-attached', 'ibv_detach_mcast', 'not_attached', /^the queue pair is not in that group$/],
  ['domain-in-use', 'ibv_dealloc_pd', 'in_use', /^it is in use by other objects \(uses: 1\)$/],
  ['cq-in-use', 'ibv_destroy_cq', 'in_use', /^it is in use by other objects \(uses: 2\)$/],
  ['member', 'ibv_destroy_qp', 'in_use', /^it is in use by other objects \(uses: 1\)$/],
  ['channel-in-use', 'ibv_destroy_comp_channel', 'in_use', /^it is in use by other objects \(uses: 1\)$/],
  ['smaller-cq', 'ibv_resize_cq', 'cq_entries', /^cqe is 0, and a completion queue has 1 to \d+ entries$/],
  ['large-dm', 'ibv_alloc_dm', 'dm_room', /has 262144 bytes of device memory left, and 1073741824 are asked for$/],
  ['dm-alignment', 'ibv_alloc_dm', 'dm_form', /^length is 64 and log_align_req 40: .* the second \d+ at most$/],
  ['window-type', 'ibv_alloc_mw', 'window_type', /^there are no memory windows of type 9$/],
  ['port', 'ibv_query_port', 'no_port', /^there is no port 9, and the last port of the device is 1$/],
  ['gid', 'ibv_query_gid', 'no_entry', /^the table of port 1 ends before entry 999: its length is 16$/],
  ['gid-port', 'ibv_query_gid', 'no_port', /^there is no port 3,/],
  ['pkey', 'ibv_query_pkey', 'no_entry', /^the table of port 1 ends before entry 5: its length is 1$/],
  ['address-port', 'ibv_create_ah', 'no_port', /^there is no port 2, and the last port of the device is 1$/],
];

describe('verbs why', () => {
  it.each(REFUSED)('tells a C program why a call is refused: %s', async (call, name, reason, text) => {
    const { status, reasons } = await told(refused, call);
    expect(status).toBe(3);
    expect(reasons).toEqual([
      expect.objectContaining({ place: 'call', call: name, reason, text: expect.stringMatching(text) as string }),
    ]);
    expect(reasons[0]?.['help']).not.toBe('');
  });

  it.each(MISTAKES)('tells a C program of %s', async (mistake, reason, from, text) => {
    const { status, reasons, summary } = await told(wrong, mistake);
    const found = reasons.find((each) => each['reason'] === reason);
    expect(found).toMatchObject({ device: 'soft0', text: expect.stringMatching(text) as string, ...from });
    expect(found?.['help']).not.toBe('');
    expect(found?.['time']).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(summary).toContainEqual(expect.objectContaining({ reason, exact: true }));
    expect(status).toBe(3);
  });

  it('tells the requester what the peer had against it', async () => {
    // A request that was sent again comes to the queue pair that has failed.
    const { reasons: all } = await told(wrong, 'queue-pair-access');
    const reasons = all.filter(({ reason }) => reason !== 'drop_failed');
    expect(reasons.map(({ reason }) => reason)).toEqual(['qp_right', 'peer_refused']);
    // Alice was made first.
    expect(reasons[0]?.['qpNum']).toBe(Number(reasons[0]?.['peerQpNum']) + 1);
    expect(reasons[1]?.['qpNum']).toBe(reasons[0]?.['peerQpNum']);
    expect(reasons[1]).toMatchObject({
      ...completion('REM_INV_REQ_ERR'),
      text: 'the peer refused the RDMA_WRITE',
      peers: { reason: 'qp_right', text: 'access of the queue pair lacks REMOTE_WRITE: it is LOCAL_WRITE' },
    });
    const nobody = await told(wrong, 'nobody');
    expect(nobody.reasons.at(-1)?.peers?.['reason']).toBe('drop_unknown_qp');
  });

  it('tells it in lines on standard error, and passes on the rest', async () => {
    const { status, stdout, stderr } = await why('--', 'sh', '-c', `echo out; ${wrong} no-address; echo $?`);
    expect(stdout).toBe('out\n3\n');
    expect(stderr).toMatch(
      /^[\d:.]{15} \d+ ibv_modify_qp of soft0 queue pair 0x\w+: EINVAL: the step from INIT to RTR/,
    );
    expect(stderr).toMatch(/^ {4}help: {2}set the field and its bit in attr_mask$/m);
    expect(stderr).toMatch(/how often.*\n {7}1 {2}missing_attributes {2}/);
    expect(status).toBe(0);
    expect((await why('--', 'true')).stderr).toMatch(/told of no refused call/);
  });

  it('knows what a program said before it aborted, and each of several processes', async () => {
    const aborted = await told(wrong, 'abort');
    expect([aborted.status, aborted.reasons.map(({ reason }) => reason)]).toEqual([134, ['send_state']]);
    // Without an address of their own, which one process has: others may send to theirs as well.
    const file = join(directory, 'several.jsonl');
    await verbs(['why', '--json', '-o', file, '--', wrong, 'no-address', 'wrong-qkey', 'long-inline']);
    const several = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Reported)
      .filter(({ reason }) => ['missing_attributes', 'drop_qkey', 'long_inline'].includes(reason as string));
    expect(new Set(several.map(({ pid, reason }) => `${reason as string} ${pid as number}`)).size).toBe(3);
    expect(new Set(several.map(({ pid }) => pid)).size).toBe(3);
  });

  it('tells why a device cannot be opened', async () => {
    const device = 'soft0,addr=203.0.113.7';
    const { status, stderr } = await verbs(['why', '--device', device, '--', wrong, 'no-port']);
    expect(stderr).toMatch(/^[\d:.]{15} \d+ ibv_open_device of soft0: EADDRNOTAVAIL: .*203\.0\.113\.7/m);
    expect(status).toBe(1);
  });

  it('does not repeat itself without end', async () => {
    const { reasons, summary } = await told(wrong, 'often');
    expect(reasons.map(({ count }) => Number(count)).slice(60)).toEqual([61, 62, 63, 64, 128, 256, 512]);
    expect(summary).toMatchObject([{ reason: 'send_state', count: '512', exact: false }]);
  });

  it('is written by nobody else', async () => {
    const command = 'stat -c "%a %u" "$VERBS_SOFT_WHY"; stat -c %F "$VERBS_SOFT_WHY"';
    const { stdout } = await why('--', 'sh', '-c', command);
    expect(stdout).toBe(`600 ${process.getuid?.()}\nregular empty file\n`);
    // A file that others may write to is left alone, and so is what a link leads to.
    const [open, own] = [join(directory, 'open'), join(directory, 'own')];
    execFileSync('sh', [
      '-c',
      `: > ${open}; : > ${own}; chmod 666 ${open}; chmod 600 ${own}; ln -s ${own} ${own}.link`,
    ]);
    const sizes = async (VERBS_SOFT_WHY: string) => {
      await verbs(['run', '--', wrong, 'post-in-reset'], { VERBS_SOFT_WHY });
      return [statSync(open).size, statSync(own).size];
    };
    expect([await sizes(open), await sizes(`${own}.link`)]).toEqual([
      [0, 0],
      [0, 0],
    ]);
    expect(await sizes(own)).toEqual([0, expect.any(Number)]);
    expect(statSync(own).size).toBeGreaterThan(100);
  });

  it('leaves with 2 or 1 where it cannot begin', async () => {
    expect((await verbs(['why'])).status).toBe(2);
    const nowhere = await why('-o', '/nowhere/file', '--', 'true');
    expect([nowhere.status, nowhere.stderr]).toMatchObject([1, expect.stringContaining('--output')]);
    expect((await why('--', 'verbs-has-no-such-program')).status).toBe(127);
    const device = await verbs(['why', '--device', 'soft0,bogus=1', '--', 'true']);
    expect([device.status, device.stderr]).toMatchObject([2, expect.stringContaining('unknown option bogus')]);
  });

  it('ends with its file, but not the program, where the disk is full', async () => {
    const full = 'cannot write /dev/full: no space left on the device (ENOSPC)';
    const failed = await why('-o', '/dev/full', '--', 'sh', '-c', `${wrong} no-address; echo on; exit 5`);
    expect(failed).toMatchObject({ status: 5, stdout: 'on\n', stderr: expect.stringContaining(full) as string });
    const done = await why('-o', '/dev/full', '--', 'true');
    expect(done).toMatchObject({ status: 1, stderr: expect.stringContaining(full) as string });
  });
});

describe('verbs why PID', () => {
  it('tells what a process had', async () => {
    const program = new Verbs(['run', ...DEVICE, '--', wrong, 'stay', 'region-access'], {}, 'pipe');
    const pid = (await program.until(/^\d+$/m))[0];
    const { status, stdout } = await verbs(['why', pid]);
    expect(stdout).toMatch(
      /0x\w+ refuses what 0x\w+ of [\d.]+ asks \(NAK: remote access error\): access of the region/,
    );
    expect(stdout).toMatch(
      /ibv_poll_cq of soft0 queue pair 0x\w+: REM_ACCESS_ERR: .*\n {4}there: access of the region/,
    );
    const file = join(directory, 'process.jsonl');
    expect(await verbs(['why', '--json', '-o', file, pid])).toMatchObject({ status: 0, stdout: '' });
    const json = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Reported);
    // A request that was sent again comes to the queue pair that has failed.
    const causes = json.map(({ reason }) => reason).filter((reason) => reason !== 'drop_failed');
    expect(causes).toEqual(['region_right', 'peer_refused']);
    expect(json[1]).toMatchObject({ pid: Number(pid), count: '1', ...completion('REM_ACCESS_ERR') });
    program.process.stdin?.end();
    expect((await program.outcome()).status).toBe(0);
    expect(status).toBe(0);
    const gone = await verbs(['why', pid]);
    expect([gone.status, gone.stderr]).toMatchObject([1, expect.stringContaining(`process ${pid} has no device`)]);
  });

  it('and verbs top says why datagrams vanish, as the counters do', async () => {
    const program = new Verbs(['run', ...DEVICE, '--', wrong, 'stay', 'wrong-qkey'], {}, 'pipe');
    const pid = (await program.until(/^\d+$/m))[0];
    expect((await verbs(['top', '-n', '1'])).stdout).toMatch(/^ {4}dropped: qkey 1 {2}\(verbs why PID\)$/m);
    expect((await verbs(['stat', '-p', pid])).stdout).toMatch(/\bdrop_qkey 1\b/);
    program.process.stdin?.end();
    await program.outcome();
  });
});

describe('an error of TypeScript', () => {
  const errorOf = async (mistake: string) => {
    const { status, stdout, reasons } = await told(process.execPath, SCRIPT, mistake);
    return { status, message: stdout.trimEnd(), reasons: reasons.map(({ reason }) => reason) };
  };

  it.each([
    [
      'queue-pair-access',
      /^WC_REM_INV_REQ_ERR: .*at the peer's end access of the queue pair lacks REMOTE_WRITE: it is LOCAL_WRITE; /,
    ],
    ['region-access', /^WC_REM_ACCESS_ERR: .*at the peer's end access of the region of R_Key 0x\w+ lacks REMOTE_WRITE/],
    [
      'short-receive',
      /^WC_REM_INV_REQ_ERR: .*at the peer's end a receive request of 16 bytes is too short for a message of 64; /,
    ],
    ['no-receive', /^WC_RNR_RETRY_EXC_ERR: .* on queue pair 0x\w+: the peer posted no receive request/],
    ['no-room', /^WC_LOC_LEN_ERR: .*room for 64 bytes, and a datagram of 64 bytes needs 104/],
  ])('has what the NIC knows of %s', async (mistake, message) => {
    expect(await errorOf(mistake)).toMatchObject({ status: 3, message: expect.stringMatching(message) as string });
  });

  it.each([
    ['no-port', 'missing_attributes', /^EINVAL: .*attr\.portNum is missing/],
    ['no-address', 'missing_attributes', /^EINVAL: .*attr\.ahAttr is missing/],
    ['reset-to-rtr', 'no_transition', /^EINVAL: .*INIT comes before RTR/],
    ['post-in-init', 'send_state', /^EINVAL: .*is in INIT and sends from RTS on/],
    ['long-inline', 'long_inline', /^EINVAL: .*300 bytes and SendFlags\.INLINE/],
  ])('of %s keeps its own words, and verbs why tells those of the NIC', async (mistake, reason, message) => {
    const { status, message: text, reasons } = await errorOf(mistake);
    expect([status, text, reasons]).toEqual([3, expect.stringMatching(message), [reason]]);
  });

  it.each([
    ['wrong-qkey', 'drop_qkey'],
    ['unknown-queue-pair', 'drop_unknown_qp'],
  ])('there is none for %s: verbs why and the debug log tell', async (mistake, reason) => {
    expect(await errorOf(mistake)).toEqual({ status: 0, message: '', reasons: [reason] });
    const { stderr } = await verbs(['run', ...DEVICE, '--', process.execPath, SCRIPT, mistake], {
      NODE_DEBUG: 'verbs',
    });
    const told =
      /^VERBS \d+: soft0( queue pair 0x\w+: the datagram has the Q_Key|: packets from \S+ were dropped: no queue pair here)/m;
    expect(stderr).toMatch(told);
  });
});
