// What a program can call, as reflection finds it: no list of it can be forgotten.
import { inspect } from 'node:util';

/** Methods that TypeScript keeps from programs (protected), and JavaScript does not. */
const guarded = new Set(['use', 'describe', 'onClosed', 'addParent', 'replaceParent', 'rewrite', 'requestAt']);

const isInternal = (key) => (typeof key === 'symbol' ? Symbol.keyFor(key)?.startsWith('@verbs/') : guarded.has(key));

const symbols = new Map([
  [inspect.custom, '[inspect.custom]'],
  [Symbol.dispose, '[Symbol.dispose]'],
]);

export function keyText(key) {
  return typeof key === 'string' ? key : (symbols.get(key) ?? `[${key.description ?? 'symbol'}]`);
}

function membersOf(prototype) {
  const members = new Map();
  for (let level = prototype; level !== null && level !== Object.prototype; level = Object.getPrototypeOf(level)) {
    for (const key of Reflect.ownKeys(level)) {
      if (key === 'constructor' || members.has(key)) continue;
      const { value, get, set } = Object.getOwnPropertyDescriptor(level, key);
      const kind = typeof value === 'function' ? 'method' : get || set ? 'accessor' : 'value';
      if (kind !== 'value') members.set(key, { key, kind, text: keyText(key), internal: isInternal(key) });
    }
  }
  return [...members.values()];
}

const isClass = (value) => typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));

/** The exported classes with their members, and the exported functions. */
export function surfaceOf(core) {
  const classes = new Map();
  const functions = new Map();
  for (const [name, value] of Object.entries(core)) {
    if (isClass(value)) classes.set(name, membersOf(value.prototype));
    else if (typeof value === 'function') functions.set(name, value);
  }
  return { classes, functions };
}

/** Every public call by its name: 'QueuePair.postSend', 'openDevice'. */
export function publicCalls({ classes, functions }) {
  const calls = [...functions.keys()];
  for (const [name, members] of classes) {
    for (const { text, internal } of members) if (!internal) calls.push(`${name}.${text}`);
  }
  return calls;
}
