import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { softModel as rdmacm } from '@verbs/rdmacm';
import { machineFor } from '@verbs/soft';

/** The environment of the programs, and a folder for what they compile and write. */
export function makeMachine() {
  const machine = machineFor([rdmacm]);
  const folder = mkdtempSync(join(tmpdir(), 'verbs-programs-'));
  return {
    environment: machine.environment,
    folder,
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
      machine.remove();
    },
  };
}
