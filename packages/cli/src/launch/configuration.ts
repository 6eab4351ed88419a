import { readFileSync } from 'node:fs';
import { Failure, fileReason } from '@verbs/lib/failure';
import { escapeValue } from '../text.js';

/** The additions of `verbs run` to the configuration of the software NIC. */
export interface Additions {
  /** Devices in the words of VERBS_SOFT; none means those of the environment, else the default device. */
  devices?: readonly string[];
  /** Path of the capture as the text has it: separators escaped, %p for the process and %d for the device. */
  capture?: string;
  /** Fault options, for example `drop=0.02,seed=7`. */
  faults?: string;
  /** Models by the kind of their devices: a program need not load the vendor's library for a device to be there. */
  models?: readonly { kind: string; library: string }[];
}

const DEFAULT_DEVICE = 'soft0';

/**
 * The text for VERBS_SOFT of a program: the devices, and the capture and the faults for every device, also for those that a
 * vendor's library adds when the program lists them. It checks nothing: the NIC reads the text, and its errors name the
 * device, the key and the value.
 */
export function configurationText(inherited: string | undefined, additions: Additions): string {
  const devices = additions.devices?.length ? additions.devices.flatMap(splitDevices) : inheritedDevices(inherited);
  const options: string[] = [];
  if (additions.capture !== undefined) options.push(`capture=${additions.capture}`);
  if (additions.faults !== undefined && additions.faults !== '') options.push(additions.faults);
  const texts = devices.map((device) => [device, ...modelOption(device, additions.models)].join(','));
  return (options.length > 0 ? [...texts, ['*', ...options].join(',')] : texts).join(';');
}

function modelOption(device: string, models: Additions['models'] = []): string[] {
  const kind = /,\s*kind\s*=\s*([^,]*?)\s*(,|$)/.exec(device)?.[1];
  const model = /,\s*model\s*=/.test(device) ? undefined : models.find((each) => each.kind === kind);
  return model === undefined ? [] : [`model=${escapeValue(model.library)}`];
}

function inheritedDevices(inherited: string | undefined): string[] {
  const devices = splitDevices(contentOf(inherited ?? ''));
  return devices.length > 0 ? devices : [DEFAULT_DEVICE];
}

/** VERBS_SOFT is the text itself, or the path of a file that holds it: only a path has a slash in its first word. */
function contentOf(text: string): string {
  if (!/^[^,;=\n]*\//.test(text)) return text;
  try {
    return readFileSync(text, 'utf8');
  } catch (error) {
    throw new Failure(`VERBS_SOFT names the file ${text}: ${fileReason(error)}`, {
      hint: 'correct the path, or unset VERBS_SOFT for the default device',
      cause: error,
    });
  }
}

function splitDevices(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/(^|[ \t;])#.*/, '$1'))
    .join(';')
    .split(';')
    .map((device) => device.trim())
    .filter((device) => device !== '');
}
