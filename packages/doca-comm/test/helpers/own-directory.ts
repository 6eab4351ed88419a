import { mkdtempSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

// Services are found by their names, and each name is there once in a directory. Two files run at the same time, and one process
// runs several, one after the other.
const given = process.env['XDG_RUNTIME_DIR'] ?? '';
const common = basename(given).startsWith('file-') ? dirname(given) : given;
process.env['XDG_RUNTIME_DIR'] = mkdtempSync(join(common, 'file-'));
