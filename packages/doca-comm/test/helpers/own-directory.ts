import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';

// Services are found by their names, and each name is there once in a directory. Two files run at the same time.
process.env['XDG_RUNTIME_DIR'] = mkdtempSync(join(process.env['XDG_RUNTIME_DIR'] ?? '', 'file-'));
