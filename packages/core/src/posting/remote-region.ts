import { U32 } from '../base/numbers.js';
import { integer, optional, rangeError, typeError, u64, valueError } from '../base/validate.js';
import { pathText, type RequestPath } from './request-path.js';

const WHOLE =
  'there: remote is the object { addr, rkey, length } that mr.remote() of the peer gives (an address and a key alone are ' +
  'remoteAddr and rkey of the request, in the place of remote)';

const HEX = /^0x[0-9a-f]{1,16}$/i;

/** The address and the key of a request that has `remote`. */
export function remoteRegion(wr: Record<string, unknown>, path: RequestPath): { addr: bigint; rkey: number } {
  const name = `${pathText(path)}.remote`;
  const region = wr['remote'];
  if (typeof region !== 'object' || region === null)
    throw typeError(name, 'an object { addr, rkey, length }, as mr.remote() of the peer gives it', region);
  if (wr['rkey'] !== undefined) throw valueError(`${pathText(path)}.rkey`, 'stands beside remote, which has the rkey');
  const { addr, rkey, length } = region as Record<string, unknown>;
  for (const [key, value] of Object.entries({ addr, rkey, length })) {
    if (value === undefined) throw typeError(`${name}.${key}`, WHOLE, undefined);
  }
  const bytes = integer(length, `${name}.length`, 0, Number.MAX_SAFE_INTEGER);
  const offset = optional(wr['remoteOffset'], `${pathText(path)}.remoteOffset`, Number.MAX_SAFE_INTEGER, 0);
  if (offset > bytes) throw rangeError(`${pathText(path)}.remoteOffset`, `at most remote.length, ${bytes}`, offset);
  return {
    addr: BigInt.asUintN(64, address(addr, `${name}.addr`) + BigInt(offset)),
    rkey: integer(rkey, `${name}.rkey`, 0, U32),
  };
}

function address(value: unknown, path: string): bigint {
  if (typeof value !== 'string') return BigInt(u64(value, path));
  if (!HEX.test(value)) throw valueError(path, 'is no address: hexadecimal text such as "0x7f0012345000" is needed');
  return BigInt(value);
}
