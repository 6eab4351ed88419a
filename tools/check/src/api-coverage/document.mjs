/** @import { Coverage } from './cover.mjs' */
/** @import { Plan } from './plan.mjs' */

/**
 * The table of the functions, as Markdown.
 * @param {Pick<Plan, 'title' | 'release'>} plan
 * @param {Pick<Coverage, 'rows'>} coverage
 */
export function markdown({ title, release }, { rows }) {
  const exposed = rows.filter(({ reason }) => reason === undefined);
  const listed = rows.filter(({ reason }) => reason !== undefined);
  return [
    `# ${title}`,
    '',
    `The ${rows.length} functions up to release ${release} of rdma-core: ${exposed.length} exposed, ${listed.length} not. This file is made by the coverage check.`,
    '',
    '| C function | TypeScript |',
    '| --- | --- |',
    ...exposed.map(({ name, api, inline }) => `| \`${name}\`${inline ? ' (inline)' : ''} | ${code(api)} |`),
    '',
    '## Not exposed',
    '',
    '| C function | why |',
    '| --- | --- |',
    ...listed.map(({ name, reason }) => `| \`${name}\` | ${reason ?? ''} |`),
    '',
  ].join('\n');
}

/** @param {string[]} names */
function code(names) {
  return names.map((name) => `\`${name}\``).join(', ');
}
