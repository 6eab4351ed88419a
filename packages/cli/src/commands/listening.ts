import type { ProtectionDomain } from '@verbs/core';
import { listen, type Server } from '@verbs/core/rendezvous';
import { codeOf, Failure, messageOf } from '@verbs/lib/failure';

/** Waits for clients of a `verbs` command at an address and TCP port. */
export async function waitAt({ bind, port }: { bind: string; port: number }, pd: ProtectionDomain): Promise<Server> {
  try {
    return await listen({ host: bind, port, pd });
  } catch (error) {
    throw new Failure(`cannot wait on ${bind} port ${port}: ${messageOf(error)}`, {
      ...hintFor(codeOf(error)),
      cause: error,
    });
  }
}

function hintFor(code: string | undefined): { hint?: string } {
  switch (code) {
    case 'EADDRINUSE':
      return { hint: 'another server may run already: choose another --port' };
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return { hint: '--bind takes an address of this machine: "ip address" lists them' };
    case 'EACCES':
      return { hint: 'a --port below 1024 is for root' };
    default:
      return {};
  }
}

/** The port where a client looks for its server: any free one is for the server to choose. */
export function serversPort(port: number): number {
  if (port > 0) return port;
  throw new Failure('--port 0 is for the server', { hint: 'give the port that it waits on', exitCode: 2 });
}

/** The port of ibv_rc_pingpong and its relatives. */
export const DEFAULT_PORT = 18515;
