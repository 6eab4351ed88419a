import type { ProtectionDomain } from '@verbs/core';
import { listen, type Server } from '@verbs/core/rendezvous';
import { Failure, messageOf } from '@verbs/lib/failure';

/** Waits for clients of a `verbs` command at an address and TCP port. */
export async function waitAt({ bind, port }: { bind: string; port: number }, pd: ProtectionDomain): Promise<Server> {
  try {
    return await listen({ host: bind, port, pd });
  } catch (error) {
    throw new Failure(`cannot wait on ${bind} port ${port}: ${messageOf(error)}`, {
      hint: 'another server may run already: choose another --port',
      cause: error,
    });
  }
}

/** The port of ibv_rc_pingpong and its relatives. */
export const DEFAULT_PORT = 18515;
