import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkRooms } from '../src/rooms/check.mjs';
import { climbs } from '../src/rooms/shelves.mjs';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'verbs-rooms-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(files: Record<string, string>) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

function findings(files: Record<string, string>, rooms?: unknown): string[] {
  write(files);
  if (rooms !== undefined) write({ 'rooms.json': JSON.stringify(rooms) });
  return checkRooms(folder).findings;
}

const downwards = {
  'src/index.ts': "export { a } from './top/a.js';",
  'src/top/a.ts': "import { b } from '../bottom/b.js';\nexport const a = b;",
  'src/bottom/b.ts': 'export const b = 1;',
};
const order = { root: 'src', order: ['top', 'bottom'] };

describe('the rooms of TypeScript', () => {
  it('may import the rooms below them', () => {
    expect(findings(downwards, order)).toEqual([]);
  });

  it('may not import a value from a room above them', () => {
    const value = "import { a } from '../top/a.js';\nexport const b = a;";
    expect(findings({ ...downwards, 'src/top/a.ts': 'export const a = 1;', 'src/bottom/b.ts': value }, order)).toEqual([
      'src: bottom/b.ts imports top/a.ts, but top is not below bottom',
    ]);
  });

  it.each([
    "import type { a } from '../top/a.js';\nexport type B = typeof a;",
    "import { type a } from '../top/a.js';\nexport type B = typeof a;",
    "export type { a as B } from '../top/a.js';",
    "export type B = typeof import('../top/a.js').a;",
  ])('may not import a type from a room above them either: %s', (type) => {
    expect(findings({ ...downwards, 'src/top/a.ts': 'export const a = 1;', 'src/bottom/b.ts': type }, order)).toEqual([
      'src: bottom/b.ts imports top/a.ts, but top is not below bottom',
    ]);
  });

  it('may not import a type by a comment of JavaScript from a room above them', () => {
    const sources = {
      'src/top/a.mjs': 'export const a = 1;',
      'src/bottom/b.mjs': "/** @import { a } from '../top/a.mjs' */\n\n/** @type {typeof a} */\nexport const b = 1;",
    };
    expect(findings(sources, order)).toEqual(['src: bottom/b.mjs imports top/a.mjs, but top is not below bottom']);
  });

  it('do not import each other where they stand together', () => {
    expect(findings(downwards, { root: 'src', order: [['top', 'bottom']] })).toEqual([
      'src: top/a.ts imports bottom/b.ts, but bottom is not below top',
    ]);
  });

  it('may not import the files above them, unless the order gives these a place', () => {
    const shared = { 'src/bottom/b.ts': "export { x as b } from '../x.js';", 'src/x.ts': 'export const x = 1;' };
    expect(findings({ ...downwards, ...shared }, order)).toEqual([
      'src: bottom/b.ts imports x.ts, but . is not below bottom',
    ]);
    expect(findings({}, { root: 'src', order: ['top', 'bottom', 'x.ts'] })).toEqual([]);
  });

  it('all have a place in the order, and the order names no other', () => {
    expect(findings(downwards, { root: 'src', order: ['top', 'cellar'] })).toEqual([
      'src: room bottom has no place in the order',
      'src: there is no room cellar, which the order names',
    ]);
  });

  it('have no cycle of imports, with or without an order', () => {
    const cycle = {
      'src/a.ts': "import { b } from './b.js';\nexport const a = () => b;",
      'src/b.ts': "import { c } from './c.js';\nexport const b = () => c;",
      'src/c.ts': "import { a } from './a.js';\nexport const c = () => a;",
    };
    expect(findings(cycle)).toEqual(['a cycle of imports: src/a.ts -> src/b.ts -> src/c.ts -> src/a.ts']);
    expect(findings({ 'src/c.ts': "import type { a } from './a.js';\nexport type C = typeof a;" })).toEqual([
      'a cycle of imports: src/a.ts -> src/b.ts -> src/c.ts -> src/a.ts',
    ]);
    expect(findings({ 'src/c.ts': "export const c = async () => import('./a.js');" })).toEqual([]);
  });
});

describe('forward declarations', () => {
  const order = { root: 'src', order: ['top', 'bottom', 'base'], forward: 'base/objects.ts' };
  // A parent makes its child, which names its parent.
  const family = {
    'src/top/parent.ts':
      "import { Child } from '../bottom/child.js';\nexport class Parent { child = new Child(this); }",
    'src/bottom/child.ts':
      "import type { Parent } from '../base/objects.js';\nexport class Child { constructor(readonly parent: Parent) {} }",
    'src/base/objects.ts': "// Names.\nexport type { Parent } from '../top/parent.js';",
  };

  it('open the ring of a parent and its child', () => {
    expect(findings(family, order)).toEqual([]);
    expect(findings({}, { ...order, forward: undefined })).toEqual([
      'a cycle of imports: src/base/objects.ts -> src/top/parent.ts -> src/bottom/child.ts -> src/base/objects.ts',
      'src: base/objects.ts imports top/parent.ts, but top is not below base',
    ]);
  });

  it.each([
    ['a value', "export { Parent } from '../top/parent.js';"],
    ['all types of a file', "export type * from '../top/parent.js';"],
    ['an interface of its own', "export type { Parent } from '../top/parent.js';\nexport interface Own {}"],
  ])('have nothing but types by name, not %s', (_, text) => {
    expect(findings({ ...family, 'src/base/objects.ts': text }, order)).toEqual([
      'src: base/objects.ts declares types ahead: it may have nothing but export type { Name } from their files',
    ]);
  });

  it('are not for files that can import the class itself', () => {
    const user = "import type { Parent } from '../base/objects.js';\nexport const nameOf = (parent: Parent) => parent;";
    expect(findings({ ...family, 'src/top/name.ts': user }, order)).toEqual([
      'src: top/name.ts takes Parent from base/objects.ts, but can import top/parent.ts',
    ]);
  });

  it('are needed', () => {
    expect(findings({ ...family, 'src/bottom/child.ts': 'export class Child {}' }, order)).toEqual([
      'src: base/objects.ts declares Parent ahead, and no file needs it',
    ]);
  });
});

describe('the rooms of C++', () => {
  const order = { root: 'native', order: ['host', 'wire'] };
  const sources = {
    'native/host/port.cc': '#include "host/port.h"\n#include <vector>\n#include "infiniband/verbs.h"\n',
    'native/host/port.h': '#pragma once\n#include "wire/bth.h"\n',
    'native/wire/bth.h': '#pragma once\n',
  };

  it('include headers by their path from native/', () => {
    expect(findings(sources, order)).toEqual([]);
    expect(findings({ 'native/wire/bth.h': '  #  include "host/clock.h"\n', 'native/host/clock.h': '' })).toEqual([
      'native: wire/bth.h imports host/clock.h, but host is not below wire',
    ]);
  });

  it('have no headers that include each other', () => {
    expect(
      findings(
        { ...sources, 'native/wire/bth.h': '#include "wire/reth.h"\n', 'native/wire/reth.h': '#include "bth.h"\n' },
        order,
      ),
    ).toEqual(['a cycle of imports: native/wire/bth.h -> native/wire/reth.h -> native/wire/bth.h']);
  });

  it('are drawn with the number of imports', () => {
    write({ ...sources, 'rooms.json': JSON.stringify([order]) });
    expect(checkRooms(folder).diagrams).toEqual([{ root: 'native', text: 'flowchart TD\n  host -->|1| wire' }]);
  });

  it('have no more files than one sees at once; tests and fuzz targets do not count', () => {
    const many = (room: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`native/${room}/f${i}.cc`, '']));
    expect(findings({ ...many('host', 24), ...many('test', 30), ...many('fuzz', 30) })).toEqual([]);
    expect(findings(many('host', 25))).toEqual(['native/host has 25 files: more than 24; it wants rooms']);
  });
});

it('says which entry of rooms.json is wrong', () => {
  expect(() => findings({}, [order, { root: 'src', order: [1] }])).toThrow(/rooms\.json: entry 2 is not/);
});

describe('the shelves', () => {
  const manifest = (name: string, more = {}) => JSON.stringify({ name, ...more });
  const members = ['packages/a', 'examples', 'examples/apps/b', 'tools/c', 'trials/d'];

  it('use what is below them', () => {
    write({
      'packages/a/package.json': manifest('a'),
      'examples/package.json': manifest('examples', { dependencies: { a: '*' } }),
      'examples/apps/b/package.json': manifest('b', { dependencies: { a: '*' } }),
      'tools/c/package.json': manifest('c', { dependencies: { a: '*', examples: '*' } }),
      'tools/c/src/c.mjs': '',
      'trials/d/package.json': manifest('d', { devDependencies: { b: '*', c: '*' } }),
      'trials/d/d.mjs': "import '../../tools/c/src/c.mjs';\nimport '../../base.mjs';",
      'base.mjs': '',
    });
    const folders = members.map((each) => join(folder, each));
    expect(climbs(folder, folders)).toEqual([]);
    write({
      'packages/a/package.json': manifest('a', { peerDependencies: { b: '*' } }),
      'packages/a/test/a.test.ts': "import '../../../trials/d/d.mjs';",
      'examples/apps/b/b.ts': "import type { C } from '../../../tools/c/src/c.mjs';",
    });
    expect(climbs(folder, folders)).toEqual([
      'packages/a/test/a.test.ts imports trials/d/d.mjs, which is on a shelf above it',
      'packages/a depends on examples/apps/b, which is on a shelf above it',
      'examples/apps/b/b.ts imports tools/c/src/c.mjs, which is on a shelf above it',
    ]);
  });
});
