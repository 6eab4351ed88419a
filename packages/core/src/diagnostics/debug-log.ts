import { subscribe } from 'node:diagnostics_channel';
import { debuglog } from 'node:util';
import { kKind, kSerial } from '../base/symbols.js';
import { AccessFlags, enumName, flagNames, WcStatus } from '../enums/index.js';
import type { DiagnosticsMessages } from '../types/diagnostics.js';

// NODE_DEBUG=verbs: one line on stderr for each message of the diagnostics channels. The log is a subscriber like
// any other, so it costs nothing when the variable is not set.

type Lines = { [Name in keyof DiagnosticsMessages]: (message: DiagnosticsMessages[Name]) => string };

interface Named {
  [kKind]: string;
  [kSerial]: number;
}

const qpn = (qpNum: number) => `0x${qpNum.toString(16).padStart(6, '0')}`;
const name = (object: Named) => `${object[kKind]} #${object[kSerial]}`;

const lines: Lines = {
  'verbs:library:load': ({ library, kind, path, reason }) =>
    reason === undefined
      ? `library ${library} (${kind}): loaded ${path ?? ''}`
      : `library ${library} (${kind}): not used${path === undefined ? '' : ` from ${path}`}: ${reason}`,
  'verbs:library:devices': ({ kind, devices, reason = '' }) =>
    `devices (${kind}): ${devices.length === 0 ? `none: ${reason}` : devices.join(', ')}`,
  'verbs:object:open': ({ type, id }) => `open ${type} #${id}`,
  'verbs:object:close': ({ type, id }) => `close ${type} #${id}`,
  'verbs:object:leaked': ({ type, id, stack }) => `leaked ${type} #${id}, ${placeOf(stack)}`,
  'verbs:mr:register': ({ id, length, access }) =>
    `register MemoryRegion #${id}: ${length} bytes, ${flagNames(AccessFlags, access)}`,
  'verbs:mr:deregister': ({ id, length }) => `deregister MemoryRegion #${id}: ${length} bytes`,
  'verbs:qp:state': ({ id, qpNum, from, to, cause }) => `QueuePair #${id} ${qpn(qpNum)}: ${from} -> ${to} (${cause})`,
  'verbs:post:error': ({ queue, error, posted }) =>
    `post failed on ${name(queue)}, after ${posted} requests: ${error.message}`,
  'verbs:completion:error': ({ cq, wc }) =>
    `completion failed in ${name(cq)}: wrId ${wc.wrId} of ${qpn(wc.qpNum)}, ` +
    `${enumName(WcStatus, wc.status)} (${wc.status}), vendor error 0x${wc.vendorErr.toString(16)}`,
  'verbs:device:event': ({ context, event: { name: event, portNum, element } }) => {
    const about = element === undefined ? '' : `, ${name(element as unknown as Named)}`;
    return `event of ${context.device.name}: ${event}${portNum === undefined ? about : `, port ${portNum}`}`;
  },
};

/** Where in the program an object was created. */
function placeOf(stack = ''): string {
  // All modules of the built package are in one folder.
  const here = new URL('.', import.meta.url).pathname;
  const [, ...frames] = stack.split('\n').map((line) => line.trim());
  return frames.find((frame) => !frame.includes(here)) ?? 'made at an unknown place';
}

function start(channel: keyof DiagnosticsMessages): void {
  const line: (message: never) => string = lines[channel];
  subscribe(channel, (message) => {
    log('%s', line(message as never));
  });
}

const log = debuglog('verbs');
const started = Symbol.for('@verbs/core.debuglog');

// The ESM and the CommonJS copy of this package share the channels.
if (log.enabled && !(started in globalThis)) {
  Object.defineProperty(globalThis, started, { value: true });
  // The software NIC tells what it drops, fails and refuses by itself, as it happens: datagrams that vanish, for one.
  process.env['VERBS_SOFT_WHY'] ??= '-';
  for (const channel of Object.keys(lines)) start(channel as keyof DiagnosticsMessages);
}
