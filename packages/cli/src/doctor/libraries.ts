import { type LibraryReport, probeLibraries } from '@verbs/core';
import { plural } from '../text.js';
import { type Finding, fail, ok, warn } from './finding.js';

const TOPICS = { system: 'libibverbs', soft: 'software NIC' } as const;

/** The two libraries that may drive a device, and the configuration of ours. */
export function checkLibraries(probed: readonly LibraryReport[]): Finding[] {
  return [...probed.map(checkLibrary), configuration()];
}

function checkLibrary({ kind, path, release, devices, reason }: LibraryReport): Finding {
  const topic = TOPICS[kind];
  const where = path === undefined ? '' : ` (${release === undefined ? path : `${path} of ${release}`})`;
  if (devices.length > 0)
    return ok(topic, `${plural(devices.length, 'device')}: ${devices.map(({ name }) => name).join(', ')}${where}`);
  if (kind === 'system')
    return warn(
      topic,
      `${reason ?? 'no device'}${where}`,
      'needed for hardware only; the software NIC does without it',
    );
  return fail(
    topic,
    reason ?? 'no device',
    'npm install @verbs/soft; in a checkout, npm run setup; and see VERBS_SOFT below',
  );
}

function configuration(): Finding {
  const topic = 'VERBS_SOFT';
  const text = process.env['VERBS_SOFT'];
  if (text === undefined || text === '')
    return ok(topic, 'not set: one device, soft0, at 127.0.0.1, and at addresses of the host that a program uses');
  const soft = probeLibraries().find(({ kind }) => kind === 'soft');
  const leftOut = soft?.leftOut ?? [];
  if (leftOut.length > 0) {
    const all = leftOut.map(({ name, reason }) => `${name} is left out: ${reason}`);
    return warn(topic, `${text}: ${all.join('; ')}`, 'correct it, or install the package that has the model');
  }
  if (soft !== undefined && soft.devices.length > 0) return ok(topic, text);
  return fail(
    topic,
    `${text}: ${soft?.reason ?? 'it gives no device'}`,
    'correct it, or unset it for the default device',
  );
}
