import { AccessFlags } from '../enums/index.js';

/** Rights by which a peer changes the memory. */
const CHANGES = ['REMOTE_WRITE', 'REMOTE_ATOMIC'] as const;

/** Why `ibv_reg_mr` refused with EINVAL, if it is for the access. */
export function accessReason(access: number): string | undefined {
  if ((access & AccessFlags.LOCAL_WRITE) !== 0) return undefined;
  const given = CHANGES.filter((name) => (access & AccessFlags[name]) !== 0);
  if (given.length === 0) return undefined;
  const names = given.map((name) => `AccessFlags.${name}`).join(' | ');
  return `access has ${names} without LOCAL_WRITE, which it needs: give AccessFlags.LOCAL_WRITE | ${names}`;
}
