import { describe, freePort, type Outcome, type Program, startOnSoft } from './program.js';

export interface Pair {
  server: Program;
  client: Program;
}

/**
 * Starts server and client of a program of ibverbs-utils or perftest. The client gives up when the server does not listen
 * yet, so it is started again until it does.
 *
 * @param configurations of the server and of the client
 */
export async function startPair(name: string, args: readonly string[], configurations: string[] = []): Promise<Pair> {
  const common = ['-p', String(await freePort()), ...usualArguments(name), ...args];
  const server = startOnSoft(name, common, configurations[0]);
  for (;;) {
    const client = startOnSoft(name, [...common, '127.0.0.1'], configurations[1]);
    const refused = await Promise.race([
      client.ended.then(({ stderr }) => stderr.includes("Couldn't connect")),
      client.printed(/remote address/).then(
        () => false,
        () => true,
      ),
    ]);
    if (!refused) return { server, client };
    if (server.process.exitCode !== null || server.process.signalCode !== null) {
      throw new Error(`the server ended: ${describe(await server.ended)}`);
    }
  }
}

/** The device and its GID; perftest is also told not to mind a processor that changes its frequency. */
function usualArguments(name: string): string[] {
  return name.startsWith('ibv_') ? ['-g', '0'] : ['-F', '-d', 'soft0', '-x', '0'];
}

/** Runs both to their ends. */
export async function runPair(name: string, args: readonly string[], configurations?: string[]): Promise<Outcome[]> {
  const { server, client } = await startPair(name, args, configurations);
  return Promise.all([server.ended, client.ended]);
}
