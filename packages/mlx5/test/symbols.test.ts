import { execFileSync } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { softModel } from '../src/base/soft-model.js';

const dropIn = join(softModel.dropIn, 'libmlx5.so.1');

/** The functions that a library defines, each with its version node. */
function functions(path: string): string[] {
  const lines = execFileSync('nm', ['-D', '--defined-only', path], { encoding: 'utf8' }).trim().split('\n');
  return lines.flatMap((line) => / T (\S+)$/.exec(line)?.[1] ?? []).sort();
}

/** The version nodes that a library defines. */
function nodes(path: string): string[] {
  const lines = execFileSync('nm', ['-D', '--defined-only', path], { encoding: 'utf8' }).trim().split('\n');
  return lines.flatMap((line) => / A (\S+)$/.exec(line)?.[1] ?? []).sort();
}

/** The distribution's own library. */
function systemLibrary(): string {
  const cache = execFileSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8' });
  const path = /libmlx5\.so\.1 .*=> (\S+)/.exec(cache)?.[1];
  if (path === undefined) throw new Error('no libmlx5.so.1 to compare with: install ibverbs-providers');
  return path;
}

it("libmlx5.so.1 has every function of the distribution's, under the same version node, and those of later releases", () => {
  expect(lstatSync(dropIn).isFile()).toBe(true);
  const expected = functions(systemLibrary());
  expect(expected.length).toBeGreaterThan(128);
  expect(functions(dropIn)).toEqual(expect.arrayContaining(expected));
  // The one that newer headers bind in place of mlx5dv_create_flow, for actions with the offset of a counter.
  expect(functions(dropIn)).toContain('__mlx5dv_create_flow@@MLX5_1.25.1');
  expect(functions(dropIn)).toContain('mlx5dv_get_data_direct_sysfs_path@@MLX5_1.25');
  expect(nodes(dropIn)).toEqual(expect.arrayContaining([...nodes(systemLibrary()), 'MLX5_1.25.1', 'VERBS_SOFT_1.0']));
});

it('the model is a regular file too, with a name of its own', () => {
  expect(lstatSync(softModel.library).isFile()).toBe(true);
  expect(functions(softModel.library)).toContain('mlx5dv_create_flow_action_packet_reformat@@MLX5_1.0');
});
