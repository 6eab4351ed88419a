import { types } from 'node:util';
import { native } from '../base/native.js';
import { keepInPlace } from '../base/node-features.js';
import { typeError, valueError } from '../base/validate.js';

/** The memory that `pd.regMr` accepts. */
export type Registrable = ArrayBufferView | ArrayBuffer | SharedArrayBuffer;

/**
 * The bytes of memory that may be registered. A reference holds the memory of a SharedArrayBuffer and of allocMr; that
 * of an ordinary ArrayBuffer can be unmapped under the adapter by a transfer, so it must be one that cannot be
 * transferred, or the caller's own risk.
 */
export function registrableBytes(view: unknown, path: string, unsafe: boolean): Uint8Array {
  const bytes = bytesOf(view, path);
  const { buffer } = bytes;
  if (isResizable(buffer)) {
    throw valueError(
      path,
      'is a resizable buffer: its memory can shrink under the adapter; use pd.allocMr(length, access)',
    );
  }
  if (types.isSharedArrayBuffer(buffer) || native.isBlock(bytes)) return bytes;
  if (!keepInPlace(buffer) && !unsafe) {
    throw valueError(
      path,
      'is an ordinary ArrayBuffer, whose memory Node.js may take away while the adapter uses it: ' +
        'use pd.allocMr(length, access) or a SharedArrayBuffer, or pass { unsafe: true } and never transfer the buffer',
    );
  }
  return bytes;
}

/** The view's bytes. The view's own properties may lie: later checks use the new view. */
function bytesOf(view: unknown, path: string): Uint8Array {
  const [buffer, offset, length] = partsOf(view, path);
  if (!types.isAnyArrayBuffer(buffer)) throw typeError(`${path}.buffer`, 'the buffer of the view', buffer);
  // A detached buffer makes no view.
  const bytes = length === 0 ? undefined : new Uint8Array(buffer, offset, length);
  if (bytes === undefined || bytes.byteLength === 0)
    throw valueError(path, 'is empty or detached: there is no memory to register');
  return bytes;
}

function partsOf(view: unknown, path: string): [buffer: ArrayBufferLike, offset: number, length: number] {
  if (types.isAnyArrayBuffer(view)) return [view, 0, view.byteLength];
  if (!ArrayBuffer.isView(view)) throw typeError(path, 'an ArrayBuffer, a SharedArrayBuffer or a view of one', view);
  return [view.buffer, view.byteOffset, view.byteLength];
}

function isResizable(buffer: ArrayBufferLike): boolean {
  return types.isSharedArrayBuffer(buffer)
    ? Reflect.get(SharedArrayBuffer.prototype, 'growable', buffer) === true
    : Reflect.get(ArrayBuffer.prototype, 'resizable', buffer) === true;
}
