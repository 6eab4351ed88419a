// Names in documents lead to the reference: `QueuePair`, `openDevice()`, `qp.connect(…)`.
import { ReflectionKind } from 'typedoc/models';
import { modules } from './themes.mjs';

/** @import { CommentDisplayPart, DeclarationReflection, ProjectReflection, Reflection } from 'typedoc' */

/** What documents call an object of a class. */
const variables = new Map(
  Object.entries({
    ah: 'AddressHandle',
    client: 'Client',
    connection: 'Connection',
    cq: 'CompletionQueue',
    ctx: 'Context',
    device: 'Device',
    endpoint: 'Endpoint',
    fifo: 'UsrFifo',
    message: 'Message',
    mr: 'MemoryRegion',
    nic: 'SoftNic',
    pd: 'ProtectionDomain',
    peer: 'PeerAddr',
    qp: 'QueuePair',
    request: 'Request',
    server: 'Server',
    srq: 'SharedReceiveQueue',
  }),
);

/**
 * Finds what a code span names.
 * @typedef {(code: string, packageName: string | undefined) => Reflection | undefined} Finder
 */

/**
 * @param {ProjectReflection} project
 * @returns {Finder}
 */
export function finder(project) {
  /** @type {Map<string, Map<string, DeclarationReflection>>} exports by package and name */
  const exports = new Map();
  /** @type {Map<string, Set<string>>} the names of what a package's objects have, by package */
  const members = new Map();
  for (const { module, packageName } of modules(project)) {
    /** @type {Map<string, DeclarationReflection>} */
    const names = exports.get(packageName) ?? new Map();
    exports.set(packageName, names);
    if (module.name === 'provider') continue;
    for (const child of module.children ?? []) if (!names.has(child.name)) names.set(child.name, child);
    // Of core the module that documents speak of, not sockets and what connects.
    if (module.name !== packageName && module.name !== 'index') continue;
    const inner = (module.children ?? []).flatMap((child) => child.children ?? []);
    members.set(packageName, new Set(inner.map(({ name }) => name)));
  }
  return (code, packageName) => {
    const [, first = '', second] = /^(?:await )?([A-Za-z]\w*)(?:\.(\w+))?(?=\(.*\)$|$)/.exec(code) ?? [];
    const order = [packageName, '@verbs/core', ...exports.keys()];
    const named = (/** @type {string} */ name) => {
      for (const each of order) {
        const found = exports.get(each ?? '')?.get(name);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    if (second === undefined) {
      const own = packageName === '@verbs/core' ? undefined : exports.get(packageName ?? '')?.get(first);
      // `connect(…)` may be a queue pair's, or an endpoint's.
      const isMember = [packageName, '@verbs/core'].some((each) => members.get(each ?? '')?.has(first));
      if (code.startsWith('await') || first.length < 4 || (own === undefined && isMember)) return undefined;
      return plain(named(first), code);
    }
    const vendor = exports.get(`@verbs/${first}`)?.get(second);
    return vendor ?? member(named(variables.get(first) ?? first), second);
  };
}

/**
 * A word in small letters is a name of the library only if it is called: `send` may be anything. A class is not called: `Context(…)`
 * is another language's.
 * @param {DeclarationReflection | undefined} found
 * @param {string} code
 */
function plain(found, code) {
  const called = code.includes('(');
  return /^[A-Z]/.test(code) !== called || /^[a-z]+[A-Z]/.test(code) ? found : undefined;
}

/**
 * @param {DeclarationReflection | undefined} owner
 * @param {string} name
 */
function member(owner, name) {
  return owner?.children?.find((child) => child.name === name);
}

/**
 * The parts with links where a code span names something.
 * @param {CommentDisplayPart[]} parts
 * @param {Finder} find
 * @param {string | undefined} packageName whose names come first
 * @returns {CommentDisplayPart[]}
 */
export function withLinks(parts, find, packageName) {
  return parts.map((part, i) => {
    if (part.kind !== 'code' || part.text.startsWith('```')) return part;
    const before = parts[i - 1];
    // Within a link there is no other link.
    if (before?.kind === 'text' && /\[[^\]]*$/.test(before.text)) return part;
    const target = find(part.text.replaceAll('`', '').replaceAll('\\|', '|'), packageName);
    return target === undefined ? part : { kind: 'inline-tag', tag: '@link', text: part.text, target };
  });
}

/**
 * Links to an export in its source file, `packages/core/src/qp/queue-pair.ts#QueuePair`, lead to its page.
 * @param {ProjectReflection} project
 * @param {CommentDisplayPart[]} parts
 */
export function sourceLinks(project, parts) {
  for (const part of parts) {
    if (part.kind !== 'relative-link' || part.target === undefined || part.targetAnchor === undefined) continue;
    const path = project.files.resolvePath(part.target);
    const [, folder, within] = /\/packages\/([^/]+)\/(src\/.*\.ts)$/.exec(path ?? '') ?? [];
    if (folder === undefined) continue;
    const found = project
      .getReflectionsByKind(ReflectionKind.SomeExport)
      .find(
        (each) => each.name === part.targetAnchor && project.getSymbolIdFromReflection(each)?.packagePath === within,
      );
    if (found === undefined) throw new Error(`${part.text} names no export`);
    const place = /** @type {import('typedoc').NormalizedPath} */ (`${path}::${part.targetAnchor}`);
    project.files.registerReflectionPath(place, found);
    part.target = project.files.registerAbsolute(place).target;
    part.targetAnchor = undefined;
  }
}
