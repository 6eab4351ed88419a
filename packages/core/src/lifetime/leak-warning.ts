interface Leak {
  kind: string;
  why: string;
  /** Where it was made, if the program wants to know. */
  stack: string | undefined;
}

/** The kinds that were warned of: one warning each tells enough. */
const warned = new Set<string>();

const registry = new FinalizationRegistry<Leak>(({ kind, why, stack }) => {
  if (warned.has(kind)) return;
  warned.add(kind);
  const how = stack === undefined ? '. Run with --trace-warnings or NODE_DEBUG=verbs to see where it was made' : '';
  process.emitWarning(`a ${kind} was collected without close(): ${why}. Hold it as long as it is used${how}`, {
    type: 'VerbsWarning',
    code: 'VERBS_LEAK',
    ...(stack !== undefined && { detail: stack }),
  });
});

/**
 * An object that others depend on, a peer or the network, begins its work: if it is collected without `close()`, the
 * process warns, once for each kind. `why` is what that means for the others.
 */
export function watchForLeak(object: object, kind: string, why: string): void {
  unwatchForLeak(object);
  registry.register(object, { kind, why, stack: wantsStack() ? stackOf(kind) : undefined }, object);
}

/** The object is closed. */
export function unwatchForLeak(object: object): void {
  registry.unregister(object);
}

function wantsStack(): boolean {
  const { traceProcessWarnings } = process as { traceProcessWarnings?: boolean };
  return traceProcessWarnings === true || /\bverbs\b/i.test(process.env['NODE_DEBUG'] ?? '');
}

function stackOf(kind: string): string {
  const { stack = '' } = new Error(`the ${kind}`);
  return stack.replace(/^Error: /, '');
}
