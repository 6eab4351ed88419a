import ts from 'typescript';

/**
 * The code of one `@example`.
 * @typedef {object} Block
 * @property {string} file
 * @property {number} line of the file, from 1: where the code's first line stands
 * @property {string} code
 */

/**
 * An example that does not compile.
 * @typedef {object} Finding
 * @property {string} file
 * @property {number} line
 * @property {string} message
 */

/**
 * The examples in the comments of a source file, in their order.
 * @param {string} file
 * @param {string} text
 * @returns {Block[]}
 */
export function examplesOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  /** @type {Map<number, Block>} by their place: a comment can belong to more than one node */
  const blocks = new Map();
  /** @param {ts.Node} node */
  const visit = (node) => {
    for (const comment of ts.getJSDocCommentsAndTags(node)) {
      if (!ts.isJSDoc(comment)) continue;
      for (const tag of comment.tags ?? []) {
        if (tag.tagName.text !== 'example') continue;
        const end = Math.min(tag.end, comment.end - '*/'.length);
        blocks.set(tag.pos, block(source, tag.tagName.end, text.slice(tag.tagName.end, end)));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...blocks.values()];
}

/**
 * @param {ts.SourceFile} source
 * @param {number} start
 * @param {string} raw
 * @returns {Block}
 */
function block(source, start, raw) {
  const line = source.getLineAndCharacterOfPosition(start).line + 1;
  const lines = raw.split('\n').map((each, i) => (i === 0 ? each : each.replace(/^\s*\* ?/, '')));
  // The fence of a code block is no code.
  const code = lines.map((each) => (each.trimStart().startsWith('```') ? '' : each)).join('\n');
  return { file: source.fileName, line, code: code.trimEnd() };
}
