// An iSCSI target over RDMA (iSER) of tgt, with one disk: iser-target.mjs NAME FILE INITIATOR. It says "ready", and ends by a signal.
import { spawn, spawnSync } from 'node:child_process';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

const [name = '', file = '', initiator = ''] = process.argv.slice(2);
// Others may run a tgtd: that number is its socket's.
const control = String(process.pid);
const daemon = spawn('tgtd', ['--foreground', '--control-port', control], { stdio: 'inherit' });
daemon.once('exit', (status) => process.exit(status ?? 1));
for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT'])) process.once(signal, () => daemon.kill('SIGKILL'));

/** @param {string} words */
function tgtadm(words) {
  return spawnSync('tgtadm', ['-C', control, ...words.split(' ')], { encoding: 'utf8' });
}

while (tgtadm('--op show --mode system').status !== 0) await sleep(100);
for (const words of [
  `--lld iser --op new --mode target --tid 1 -T ${name}`,
  `--lld iser --op new --mode logicalunit --tid 1 --lun 1 -b ${file}`,
  '--lld iser --op bind --mode target --tid 1 -I ALL',
  `--lld iser --op bind --mode target --tid 1 -Q ${initiator}`,
]) {
  const { status, stderr } = tgtadm(words);
  if (status === 0) continue;
  console.error(`tgtadm ${words}: ${stderr}`);
  daemon.kill('SIGKILL');
}
console.log('ready');
