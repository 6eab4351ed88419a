import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';

/** @import { Case } from './case.mjs' */
/** @import { Place } from '../places.mjs' */

const ends = join(import.meta.dirname, '../../ends/languages.mjs');
const sources = join(import.meta.dirname, '../../languages');

/**
 * Ten processes at one address, of programs in ten languages, of which all pairs talk.
 * @param {Place} place
 * @param {string} folder
 * @returns {Generator<Case>}
 */
export function* languageCases(place, folder) {
  if (place.name === 'hosts') return;
  const file = (/** @type {string} */ name) => join(sources, name);
  const binary = (/** @type {string} */ name) => join(folder, `peer-${name}`);
  const compilers = [
    ['gcc', '-O1', '-o', binary('c'), file('peer.c'), '-libverbs'],
    ['g++', '-std=c++20', '-O1', '-o', binary('c++'), file('peer.cc'), '-libverbs'],
    ['rustc', '--edition', '2021', '-O', '-o', binary('rust'), file('peer.rs')],
    ['go', 'build', '-o', binary('go'), file('peer.go')],
    ['gdc', '-O1', '-o', binary('d'), file('peer.d'), '-libverbs'],
    ['gfortran', '-O1', '-J', folder, '-o', binary('fortran'), file('peer.f90'), '-libverbs'],
  ];
  const failed = compilers.flatMap(([program = '', ...args]) => {
    const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
    return status === 0 ? [] : [`${program}: ${error?.message ?? stderr}`];
  });
  const commands = [
    [binary('c')],
    [binary('c++')],
    [binary('rust')],
    [binary('go')],
    [binary('d')],
    [binary('fortran')],
    ['/usr/bin/python3', file('peer.py')],
    ['luajit', file('peer.lua')],
    ['php', file('peer.php')],
    [process.execPath, file('peer.mjs')],
  ];
  const what = 'in C, C++, Rust, Go, D, Fortran, Python, Lua, PHP and JavaScript, all pairs';
  const command = [process.execPath, ends, place.name === 'processes' ? '0' : '1', JSON.stringify(commands)];
  const cannot = failed.length > 0 && { cannot: failed.join('; ') };
  yield { program: 'ten processes', name: what, client: command, prints: /^10 processes at /m, ...cannot };
  yield {
    ...{ program: 'ten processes', name: `${what}, while others are stopped and killed`, limit: 300, ...cannot },
    client: [...command, '3000'],
    prints: /^10 processes at .* [1-9]\d* stops, [1-9]\d* kills .* [1-9]\d* debuggers/m,
  };
}
