import type { DeclarationReflection, ProjectReflection } from 'typedoc';
import { ReflectionKind } from 'typedoc/models';
import { describe, expect, it } from 'vitest';
import { finder } from '../src/reference-links.mjs';

/** An export, with the names of its members. */
const declared = (name: string, ...members: string[]) => ({
  name,
  kindOf: () => false,
  children: members.map((member) => ({ name: member })),
});
const module = (name: string, ...children: object[]) => ({
  name,
  children,
  kindOf: (kind: ReflectionKind) => kind === ReflectionKind.Module,
});

const stream = module('stream', declared('connect'), declared('createServer'));
const index = module(
  'index',
  declared('openDevice'),
  declared('Context', 'createCq'),
  declared('QueuePair', 'connect'),
);
const core = module('@verbs/core', index, stream);
const hbl = module('@verbs/hbl', declared('createCq'), declared('createEncap'), declared('openDevice'));
const comm = module('@verbs/doca-comm', declared('Client', 'connect'), declared('Endpoint', 'listen'));
const project = { children: [core, hbl, comm] } as unknown as ProjectReflection;

describe('finder', () => {
  const find = finder(project);
  const ownerOf = (code: string, packageName?: string) => {
    const found = find(code, packageName) as DeclarationReflection | undefined;
    return [stream, index, hbl].find((each) => each.children.includes(found as never))?.name ?? found?.name;
  };

  it('finds a function of the page that names it, then of core, then of any package', () => {
    expect(ownerOf('openDevice()')).toBe('index');
    expect(ownerOf("openDevice('hbl_0')", '@verbs/hbl')).toBe('@verbs/hbl');
    expect(ownerOf('createEncap()')).toBe('@verbs/hbl');
    expect(ownerOf('createServer(listener)')).toBe('stream');
  });

  it('finds members by what documents call an object', () => {
    expect(ownerOf('qp.connect(endpoint)')).toBe('connect');
    expect(ownerOf('await client.connect()')).toBe('connect');
    expect(ownerOf('hbl.createCq()')).toBe('@verbs/hbl');
  });

  it('finds nothing where a name may be that of a member, a word, or of another language', () => {
    for (const code of ['createCq', 'connect(endpoint)', "Context(name='mlx5_0')", 'connect', 'listen']) {
      expect(ownerOf(code)).toBeUndefined();
    }
    expect(ownerOf('createCq()', '@verbs/hbl')).toBe('@verbs/hbl');
  });
});
