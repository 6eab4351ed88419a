/** @import { Disturbance } from './disturbance.mjs' */
/** @import { Scene } from '../harness/scene.mjs' */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { deviceOf } from '../worlds/devices.mjs';
import { all, everywhere, unharmed } from './disturbance.mjs';

/** @param {number} pid @param {string} option */
function limit(pid, option) {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), option], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`prlimit ${option}: ${stderr.trim()}`);
}

/** Calls that need what is not there. @param {Scene} scene @param {object} argument */
async function request(scene, argument) {
  const device = deviceOf(scene.package, scene.world, scene.target).name;
  const { outcomes, strange } = await scene.victim.ask('requests', { argument: { device, ...argument } });
  if (strange.length > 0) throw new Error(`no error of the package: ${String(strange[0])}`);
  const failed = Object.keys(outcomes).filter((outcome) => !outcome.endsWith(' ok'));
  const codes = new Set(failed.map((outcome) => outcome.split(' ').at(-1)));
  return { failed, codes: [...codes].sort().join(', ') };
}

/** @type {Disturbance} */
const emfile = {
  kind: 'emfile',
  about: 'no more descriptors (RLIMIT_NOFILE), while objects are created',
  links: everywhere,
  packages: all,
  async act(scene) {
    const { pid } = scene.victim;
    const open = readdirSync(`/proc/${pid}/fd`).length;
    limit(pid, `--nofile=${open + scene.random.below(4)}:`);
    const { codes } = await request(scene, { rounds: 10, megabytes: 1 });
    limit(pid, '--nofile=20000:');
    return { effects: unharmed, note: codes === '' ? 'all created' : codes };
  },
};

/** @type {Disturbance} */
const enomem = {
  kind: 'enomem',
  about: 'hardly any more memory (RLIMIT_AS), while objects are created',
  links: everywhere,
  packages: all,
  async act(scene) {
    const { pid } = scene.victim;
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[0]);
    // Node.js itself ends when it has no memory for its own objects, so it keeps some; a program in C may lack every page.
    const room = scene.package === 'libibverbs' ? scene.random.below(2 << 20) : 64 << 20;
    limit(pid, `--as=${pages * 4096 + room}:`);
    const { codes } = await request(scene, { rounds: 5, megabytes: 256 });
    limit(pid, '--as=unlimited:');
    if (!codes.includes('ENOMEM')) throw new Error(`256 MB were there: ${codes}`);
    return { effects: unharmed, note: codes };
  },
};

/** The mount point of a small file system, in every process that is wrapped so. @param {string} directory */
const onSmallDisk = (directory) => [
  ...['unshare', '--user', '--map-root-user', '--mount', '--'],
  ...['sh', '-ec', `mkdir -p ${directory}/disk; mount -t tmpfs -o size=256k none ${directory}/disk; exec "$@"`, 'sh'],
];

/** @type {Disturbance} */
const full = {
  kind: 'full',
  about: 'the disk of a capture is full (a tmpfs of 256 KB)',
  links: everywhere,
  packages: all,
  wrap: ({ directory }) => onSmallDisk(directory),
  options: ({ directory }) => `,capture=${join(directory, 'disk/capture-%p-%d')}`,
  async act({ victim, directory, random, sleep }) {
    const disk = `/proc/${victim.pid}/root${directory}/disk`;
    // Free space tells less: the packet that found no room is cut off again, which may leave a page.
    const isFull = () =>
      readdirSync(disk).some((name) => readFileSync(join(disk, name)).includes('capture incomplete: No space left'));
    const deadline = performance.now() + 30_000; // of a busy machine
    while (!isFull()) {
      if (performance.now() > deadline) throw new Error('the capture does not fill the disk');
      await sleep(10);
    }
    await sleep(random.between(50, 500));
    return { effects: unharmed };
  },
};

/** @type {Disturbance} */
const limited = {
  kind: 'limited',
  about: 'a capture that ends at its limit while it is written',
  links: everywhere,
  packages: all,
  options: ({ directory }) => `,capture=${join(directory, 'capture-%p-%d')},capture_limit=65536`,
  async act({ directory, random, sleep }) {
    await sleep(random.between(100, 1000));
    for (const name of readdirSync(directory).filter((file) => file.startsWith('capture-'))) {
      const { size } = statSync(join(directory, name));
      if (size > 65536) throw new Error(`${name} has ${size} bytes`);
    }
    return { effects: unharmed };
  },
};

export const limits = [emfile, enomem, full, limited];
