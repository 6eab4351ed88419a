/**
 * A program of ours that runs over the kernel: what it must print, and its status.
 * @typedef {object} KernelCheck
 * @property {string} name
 * @property {string} script for the shell, in the project's root
 * @property {RegExp} prints
 * @property {number} [status] default 0
 */

const verbs = 'node packages/cli/bin/verbs.mjs';
const programs = 'node examples/programs';

/**
 * Two ends: the first waits for the second, which is started again until the first one listens.
 * @param {string} first
 * @param {string} second
 */
function twoEnds(first, second) {
  return `${first} > /tmp/first 2>&1 & first=$!
i=0; until ${second}; do i=$((i + 1)); [ $i = 8 ] && { cat /tmp/first; kill $first; exit 1; }; sleep 1; done
kill -INT $first 2> /dev/null; wait $first; exit 0`;
}

/** @type {readonly KernelCheck[]} */
export const kernelChecks = [
  { name: 'verbs devices', script: `${verbs} devices`, prints: /rxe0\s+[0-9a-f]{16}\s+system/ },
  { name: 'verbs devinfo -v', script: `${verbs} devinfo -v -d rxe0`, prints: /hca_id:\s+rxe0[^]*GID\[/ },
  { name: 'verbs doctor', script: `${verbs} doctor`, prints: /rxe0/ },
  {
    name: 'verbs doctor names the kernel as the holder of UDP 4791',
    script: `VERBS_SOFT=soft0 ${verbs} doctor`,
    prints: /UDP port 4791\W+held for all addresses by the kernel/,
  },
  {
    name: 'the software NIC names the kernel as the holder of UDP 4791',
    script: `VERBS_SOFT=soft0 node -e "import('./packages/core/dist/index.js').then(({ openDevice }) => openDevice('soft0'))" 2>&1`,
    prints: /EADDRINUSE.*held by the kernel \(its rdma_rxe module/,
    status: 1,
  },
  { name: 'verbs ping', script: twoEnds(`${verbs} ping -s`, `${verbs} ping -c 5 127.0.0.1`), prints: /5/ },
  {
    name: 'verbs perf lat send',
    script: twoEnds(`${verbs} perf lat send`, `${verbs} perf lat send -n 100 127.0.0.1`),
    prints: /#bytes #iterations/,
  },
  { name: 'example devinfo', script: `${programs}/devinfo.mjs`, prints: /rxe0/ },
  { name: 'example atomics', script: `${programs}/atomics.mjs`, prints: /./ },
  { name: 'example srq', script: `${programs}/srq.mjs`, prints: /./ },
  {
    name: 'example rc-pingpong',
    script: twoEnds(`${programs}/rc-pingpong.mjs`, `${programs}/rc-pingpong.mjs 127.0.0.1`),
    prints: /usec/,
  },
  {
    name: 'example ud-pingpong',
    script: twoEnds(`${programs}/ud-pingpong.mjs`, `${programs}/ud-pingpong.mjs 127.0.0.1`),
    prints: /usec/,
  },
];
