// From good arguments to bad ones: somewhere in their tree a value is replaced, left out, added or booby-trapped.
import { types } from 'node:util';
import { hostileValue, spoil } from './values.mjs';

const isTree = (value) =>
  typeof value === 'object' &&
  value !== null &&
  !types.isProxy(value) &&
  (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype);

/** Every place of the tree, as the container and the key. */
function places(container, found = [], depth = 0) {
  for (const key of Object.keys(container)) {
    found.push([container, key]);
    const { value } = Object.getOwnPropertyDescriptor(container, key);
    if (depth < 5 && isTree(value)) places(value, found, depth + 1);
  }
  return found;
}

/** An earlier change may have left an accessor there. */
function put(container, key, value) {
  Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Changes `args` in place: one to three times. */
export function mutate(world, args) {
  const { random } = world;
  for (let times = 1 + random.below(3); times > 0; times--) {
    const all = places(args);
    if (all.length === 0) {
      args.push(hostileValue(world));
      continue;
    }
    const [container, key] = random.pick(all);
    const isField = container !== args && !Array.isArray(container);
    switch (random.weighted({ replace: 6, remove: 1, add: 1, spoil: 3, shorten: 1 })) {
      case 'replace':
        put(container, key, hostileValue(world));
        break;
      case 'remove':
        if (isField) Reflect.deleteProperty(container, key);
        else put(container, key, undefined);
        break;
      case 'add':
        put(
          container,
          isField ? random.pick(['misspelt', 'constructor', 'length', 'next']) : container.length,
          hostileValue(world),
        );
        break;
      case 'spoil':
        if (container !== args) spoil(world, container, key);
        break;
      case 'shorten':
        args.length = random.below(args.length + 1);
        break;
    }
  }
}
