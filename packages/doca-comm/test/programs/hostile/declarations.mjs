// Which members are for programs, by the declarations of the built package.
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { keyText } from '../../../../core/test/programs/hostile/surface.mjs';

const CLASS = /^declare (?:abstract )?class (\w+)(?: extends (\w+))?[^{]*\{\n(.*?)^\}/gms;
/** A member with the comment before it, if there is one. */
const MEMBER = /^ {4}(?:(\/\*\*(?:(?!\*\/).)*\*\/)\s+)?((?:[a-z]+ )*)(\[[\w.]+\]|[\w$]+)[(:?<;]/gms;

/** @param {string} file the index.d.ts */
export function declarationsOf(file) {
  const text = readFileSync(file, 'utf8');
  const classes = new Map();
  for (const [, name, parent, body] of text.matchAll(CLASS)) {
    const members = new Map();
    for (const [, comment = '', modifiers, member] of body.matchAll(MEMBER)) {
      members.set(member, comment.includes('@internal') || /private|protected/.test(modifiers));
    }
    classes.set(name, { parent, members });
  }
  const [, exports] = /^export \{ ([^}]*) \};$/m.exec(text);
  const isInternal = (key, name) => {
    for (let at = classes.get(name); at !== undefined; at = classes.get(at.parent)) {
      const found = at.members.get(keyText(key));
      if (found !== undefined) return found;
    }
    // The constructor of a class that declares none is its parent's. What is not declared at all is told as a call without
    // arguments, unless it is Node's.
    return key === 'constructor' || key in EventEmitter.prototype || key in Error.prototype;
  };
  return { exported: exports.split(', ').filter((name) => classes.has(name)), isInternal };
}
