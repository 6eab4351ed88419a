import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { softModel as doca } from '@verbs/doca-comm';
import { softModel as hbl } from '@verbs/hbl';
import { softModel as mlx5 } from '@verbs/mlx5';
import { softModel as rdmacm } from '@verbs/rdmacm';
import { machineFor } from '@verbs/soft';

/** The environment of the programs as users have it, with the libraries of all models, and a folder for what they write. */
export function makeMachine() {
  const machine = machineFor([mlx5, hbl, doca, rdmacm]);
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
