// What a program can call, as reflection finds it: no list of it can be forgotten.
import { inspect } from 'node:util';

const symbols = new Map([
  [inspect.custom, '[inspect.custom]'],
  [Symbol.dispose, '[Symbol.dispose]'],
  [Symbol.asyncDispose, '[Symbol.asyncDispose]'],
]);

export function keyText(key) {
  return typeof key === 'string' ? key : (symbols.get(key) ?? `[${key.description ?? 'symbol'}]`);
}

function membersOf(prototype, isInternal) {
  const members = new Map();
  for (let level = prototype; level !== null && level !== Object.prototype; level = Object.getPrototypeOf(level)) {
    for (const key of Reflect.ownKeys(level)) {
      if (key === 'constructor' || members.has(key)) continue;
      const { value, get, set } = Object.getOwnPropertyDescriptor(level, key);
      if (typeof value !== 'function' && !get && !set) continue;
      members.set(key, { key, value, get, set, text: keyText(key), internal: isInternal(key) });
    }
  }
  return [...members.values()];
}

const isClass = (value) => typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));

/**
 * The classes with their members, and the functions.
 *
 * @param api what the package exports, and the classes of what its calls give
 * @param isInternal whether the key of a member of that class is not for programs
 */
export function surfaceOf(api, isInternal) {
  const classes = new Map();
  const functions = new Map();
  for (const [name, value] of Object.entries(api)) {
    if (isClass(value)) {
      const members = membersOf(value.prototype, (key) => isInternal(key, name));
      classes.set(name, { constructor: value, members, isPublic: !isInternal('constructor', name) });
    } else if (typeof value === 'function') functions.set(name, value);
  }
  return { classes, functions };
}

/**
 * Every public call by its name: 'openDevice', 'QueuePair.postSend', 'new Server', and 'Endpoint.device=' of what can be
 * set. `kind` is the class of its receiver.
 */
export function publicCalls({ classes, functions }) {
  const calls = new Map();
  for (const [name, target] of functions) calls.set(name, { member: name, target });
  for (const [kind, { constructor, members, isPublic }] of classes) {
    const construct = (...args) => Reflect.construct(constructor, args);
    if (isPublic) calls.set(`new ${kind}`, { member: `new ${kind}`, target: construct });
    for (const { text, value, get, set, internal } of members) {
      if (internal) continue;
      const name = `${kind}.${text}`;
      if (get ?? value) calls.set(name, { kind, member: text, target: get ?? value, reads: get !== undefined });
      if (set) calls.set(`${name}=`, { kind, member: `${text}=`, target: set });
    }
  }
  return calls;
}
