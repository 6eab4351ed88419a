import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Problem } from '../../../tools/setup/src/problem.mjs';
import { debianKernel } from './kernel.mjs';
import { folderPrefix, removeStaleFolders } from './stale-folders.mjs';

/**
 * What a machine is to do.
 * @typedef {object} Job
 * @property {string} command a shell script: its exit status is that of the machine
 * @property {string} [network] a shell script that runs before it; default: rxe0 on an interface without a wire
 * @property {string} [tap] a TAP interface of this network namespace; the guest's eth0 is at its other end
 * @property {(data: Buffer) => void} out receives what the command writes to its standard output
 * @property {(data: Buffer) => void} err the same of its standard error
 * @property {(write: (text: string) => void) => void} [started] is given the command's standard input
 */

/** Without a network to the host: RDMA within the guest, with an MTU of 4096. */
const ownNetwork = `
ip link show dummy0 > /dev/null 2>&1 || ip link add dummy0 type dummy
ip link set dummy0 mtu 9000 up
ip address add 10.77.1.1/24 dev dummy0
ip address add fd77:1::1/64 dev dummy0 nodad
rdma link add rxe0 type rxe netdev dummy0
`;

const start = join(import.meta.dirname, '../guest/start');
const attempts = 3;
/**
 * Milliseconds in which a boot reaches user space: 3 seconds on an idle machine, a minute on one with ten others at work. The
 * emulation of a boot hangs about once in a hundred.
 */
const bootLimit = 100_000;
/** Signals that end this process without its event of the end. */
const endings = /** @type {const} */ (['SIGHUP', 'SIGINT', 'SIGTERM']);
/** The status when the machine ended and the command had not. */
const lost = 125;

const ports = /** @type {const} */ (['in', 'out', 'err', 'status']);

/** Ends the boot, so that another is tried. */
class BootHung extends Error {}

/**
 * Boots a machine, runs the job in it, and returns the exit status of its command.
 * @param {Job} job
 * @returns {Promise<number>}
 */
export async function runMachine(job) {
  removeStaleFolders(tmpdir());
  const kernel = debianKernel();
  for (let attempt = 1; ; attempt++) {
    try {
      // A loaded host boots slowly: later attempts have more time.
      return await boot(kernel, job, bootLimit * attempt);
    } catch (error) {
      if (!(error instanceof BootHung)) throw error;
      if (attempt === attempts) {
        throw new Problem(`the virtual machine did not reach user space in ${attempts} boots:\n${error.message}`);
      }
    }
  }
}

/**
 * @param {import('./kernel.mjs').Kernel} kernel
 * @param {Job} job
 * @param {number} limit
 */
async function boot(kernel, job, limit) {
  const folder = mkdtempSync(join(tmpdir(), folderPrefix));
  /** @type {import('node:net').Server[]} */
  const servers = [];
  try {
    copyFileSync(start, join(folder, 'start'));
    writeFileSync(join(folder, 'command'), job.command);
    writeFileSync(join(folder, 'network'), job.network ?? ownNetwork);
    /** @type {Map<string, Promise<import('node:net').Socket>>} */
    const sockets = new Map();
    for (const port of ports) {
      const { server, socket } = await listenAt(join(folder, port));
      servers.push(server);
      sockets.set(port, socket);
    }
    const console = join(folder, 'console');
    // A machine ends with its owner, even one that is killed.
    const command = ['--pdeathsig', 'KILL', 'qemu-system-x86_64', ...qemuArguments(kernel, job, folder)];
    const qemu = spawn('setpriv', command, { stdio: ['ignore', 'ignore', 'pipe'] });
    return await attend(qemu, sockets, job, limit, () => readFileSync(console, 'utf8').slice(-2000));
  } finally {
    for (const server of servers) server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The end of one port of the machine.
 * @param {string} path
 */
async function listenAt(path) {
  const server = createServer();
  /** @type {Promise<import('node:net').Socket>} */
  const socket = new Promise((resolve) => {
    server.once('connection', (connection) => {
      connection.on('error', () => undefined);
      resolve(connection);
    });
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      resolve(undefined);
    });
  });
  return { server, socket };
}

/**
 * Waits for the end of the command, then ends the machine.
 * @param {import('node:child_process').ChildProcess} qemu
 * @param {Map<string, Promise<import('node:net').Socket>>} sockets
 * @param {Job} job
 * @param {number} limit
 * @param {() => string} consoleText
 * @returns {Promise<number>}
 */
async function attend(qemu, sockets, job, limit, consoleText) {
  let complaints = '';
  let ready = /** @type {boolean} */ (false);
  /** @type {number | undefined} */
  let status;
  /** @type {Promise<unknown>[]} */
  const closed = [];
  qemu.stderr?.on('data', (data) => (complaints += String(data)));
  const kill = () => qemu.kill('SIGKILL');
  process.once('exit', kill);
  /** @param {NodeJS.Signals} signal a signal that ends this process: the machine ends with it */
  const end = (signal) => {
    kill();
    for (const each of endings) process.off(each, end);
    process.kill(process.pid, signal);
  };
  for (const each of endings) process.once(each, end);
  const exited = new Promise((resolve, reject) => {
    qemu.once('error', (error) => {
      reject(new Problem(`cannot run setpriv: ${error.message}`));
    });
    qemu.once('close', resolve);
  });
  const timer = setTimeout(() => {
    if (!ready) kill();
  }, limit);
  /**
   * @param {string} name
   * @param {(socket: import('node:net').Socket) => void} use
   */
  const connect = (name, use) => {
    void sockets.get(name)?.then((socket) => {
      closed.push(new Promise((resolve) => socket.once('close', resolve)));
      use(socket);
    });
  };
  connect('in', (socket) => {
    socket.resume();
    job.started?.((text) => socket.write(text));
  });
  connect('out', (socket) => socket.on('data', job.out));
  connect('err', (socket) => socket.on('data', job.err));
  connect('status', (socket) => {
    let text = '';
    socket.on('data', (data) => {
      text += String(data);
      const lines = text.split('\n');
      if (lines[0] === 'ready') ready = true;
      if (lines.length < 3) return;
      // What the command wrote before it ended is in the other sockets already.
      status = Number(lines[1]);
      kill();
    });
  });
  try {
    await exited;
    await Promise.all(closed);
  } finally {
    clearTimeout(timer);
    process.off('exit', kill);
    for (const each of endings) process.off(each, end);
  }
  if (status !== undefined) return status;
  if (complaints !== '') throw new Problem(`qemu-system-x86_64: ${complaints}`);
  if (!ready) throw new BootHung(consoleText());
  job.err(Buffer.from(`testbed: the virtual machine ended before the command:\n${consoleText()}\n`));
  return lost;
}

/**
 * @param {import('./kernel.mjs').Kernel} kernel
 * @param {Job} job
 * @param {string} folder
 */
function qemuArguments(kernel, job, folder) {
  const hardware = /\b(vmx|svm)\b/.test(readFileSync('/proc/cpuinfo', 'utf8'));
  const words =
    'console=ttyS0 quiet panic=-1 reboot=t mitigations=off nokaslr tsc=reliable random.trust_cpu=on net.ifnames=0';
  const args = [
    '-M',
    'q35',
    '-smp',
    '2',
    '-m',
    '2048',
    '-nodefaults',
    '-no-user-config',
    '-display',
    'none',
    '-no-reboot',
  ];
  // Nested virtualization that does not show the processor's own is slower than emulation, or does not boot at all.
  args.push('-accel', hardware ? 'kvm' : 'tcg,thread=multi', '-cpu', hardware ? 'host' : 'max');
  args.push('-kernel', kernel.image, '-initrd', kernel.initramfs, '-append', `${words} testbed=${folder}`);
  args.push('-serial', `file:${join(folder, 'console')}`);
  args.push('-fsdev', 'local,id=host,path=/,security_model=none,readonly=on,multidevs=remap');
  args.push('-device', 'virtio-9p-pci,fsdev=host,mount_tag=host');
  args.push('-device', 'virtio-rng-pci', '-device', 'virtio-serial-pci');
  for (const port of ports) {
    args.push('-chardev', `socket,id=${port},path=${join(folder, port)}`);
    args.push('-device', `virtserialport,chardev=${port},name=${port}`);
  }
  if (job.tap !== undefined) {
    args.push('-netdev', `tap,id=net,ifname=${job.tap},script=no,downscript=no`);
    args.push('-device', ['virtio-net-pci', 'netdev=net', 'host_mtu=9000', ...wholeFrames()].join(','));
  }
  return args;
}

/**
 * With QEMU 10 the host hands the guest several datagrams as one (QEMU 7.2 has no such property), which a capture on the way takes for a
 * frame: off, so that it has those that an adapter would see.
 */
function wholeFrames() {
  const { stdout } = spawnSync('qemu-system-x86_64', ['-device', 'virtio-net-pci,help'], { encoding: 'utf8' });
  const offered = ['guest_uso4', 'guest_uso6'].filter((property) => stdout.includes(`${property}=`));
  return offered.map((property) => `${property}=off`);
}
