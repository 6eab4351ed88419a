// Values in the protocol of a sequence: without running any code of theirs.
import { types } from 'node:util';

const LONGEST = 60;

export class Describer {
  #labels = new WeakMap();

  label(object, text) {
    if (!this.#labels.has(object)) this.#labels.set(object, text);
  }

  text(value, depth = 0) {
    if (typeof value === 'string')
      return JSON.stringify(value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value);
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'symbol') return 'Symbol()';
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) {
      return Object.is(value, -0) ? '-0' : String(value);
    }
    const label = this.#labels.get(value);
    if (label !== undefined) return `<${label}>`;
    if (typeof value === 'function') return '<function>';
    if (types.isProxy(value)) return '<proxy>';
    if (types.isAnyArrayBuffer(value)) return `<buffer of ${value.byteLength}>`;
    if (ArrayBuffer.isView(value)) return `<view of ${value.byteLength}>`;
    return depth > 5 ? '…' : this.#fields(value, depth);
  }

  #fields(value, depth) {
    const isList = Array.isArray(value);
    const parts = Object.entries(Object.getOwnPropertyDescriptors(value))
      .filter(([, { enumerable }]) => enumerable)
      .slice(0, 24)
      .map(([key, { get, value: field }]) => {
        const text = this.text(get ?? field, depth + 1);
        return isList ? text : `${key}: ${text}`;
      });
    return isList ? `[${parts.join(', ')}${value.length > 24 ? ', …' : ''}]` : `{ ${parts.join(', ')} }`;
  }
}
