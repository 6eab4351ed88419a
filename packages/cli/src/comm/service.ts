import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Api } from '@verbs/doca-comm';
import { serviceFor } from '@verbs/lib/comm';
import { Failure, fileReason } from '@verbs/lib/failure';
import { lineOf } from '@verbs/lib/text';
import { note, print, printJson } from '../output.js';
import { plural } from '../text.js';
import { type ServedClient, type ServedFile, serve } from './serve.js';
import { trafficText } from './traffic.js';

/** The options of `verbs comm serve`. */
export interface ServiceOptions {
  device?: string;
  representor?: string;
  api?: Api;
  echo?: boolean;
  output?: string;
  json?: boolean;
}

/** Serves until the signal, and prints what clients send. */
export async function service(
  name: string,
  { device, representor, api, echo, output, json }: ServiceOptions,
  signal: AbortSignal,
): Promise<void> {
  const directory = output === undefined ? undefined : directoryOf(output);
  using served = serviceFor(name, device, representor, api);
  const show = json ? note : print;
  note(`serving ${name} on ${served.device} for ${served.representor}`);
  const clients = await serve(
    served.endpoint,
    { echo: echo ?? false, directory, signal },
    {
      onClient: (number) => {
        note(`client ${number} is here`);
      },
      onLine: (number, message) => {
        show(`${number}: ${lineOf(message)}`);
      },
      onFile: (number, file) => {
        show(`${number}: ${fileText(file)}`);
      },
      onLost: (number) => {
        note(`client ${number} is gone`);
      },
      onTrouble: (text) => {
        note(`verbs comm: ${lineOf(text)}`);
      },
    },
  );
  const { device: deviceName, representor: representorAddress } = served;
  if (json) printJson({ service: name, device: deviceName, representor: representorAddress, clients });
  else print(summary(clients));
}

/** A service that cannot store its first file, hours later, is of no use. */
function directoryOf(output: string): string {
  const directory = resolve(output);
  try {
    if (!statSync(directory).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    accessSync(directory, constants.W_OK);
  } catch (error) {
    throw new Failure(`--output ${output}: ${fileReason(error)}`, {
      hint: `make the folder first, "mkdir -p ${output}", or name another one`,
      cause: error,
    });
  }
  return directory;
}

function fileText({ name, bytes = 0, sha256, error }: ServedFile): string {
  const what = `file ${lineOf(JSON.stringify(name))}`;
  return sha256 === undefined
    ? `${what} rejected: ${lineOf(error ?? '')}`
    : `${what}, ${plural(bytes, 'byte')}, SHA-256 ${sha256}`;
}

function summary(clients: ServedClient[]): string {
  const rows = clients.map(
    (each) => `client ${each.client}: ${trafficText(each)}, ${plural(each.files.length, 'file')}`,
  );
  return [plural(clients.length, 'client'), ...rows].join('\n');
}
