import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** @import { Arrow } from './graph.mjs' */

/**
 * The relative imports of a TypeScript or JavaScript file: of values, and of types (`import type`, `import('…').Name`, and
 * `@import` in a comment of JavaScript). A call of import() is left out, since it runs when both modules are there.
 *
 * @param {string} file
 * @returns {Arrow[]}
 */
export function typescriptImports(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  /** @type {Arrow[]} */
  const arrows = [];
  /** @param {ts.Expression | undefined} specifier @param {string[]} names @param {boolean} value */
  const add = (specifier, names, value) => {
    if (specifier === undefined || !ts.isStringLiteral(specifier) || !specifier.text.startsWith('.')) return;
    const to = sourceOf(join(dirname(file), specifier.text));
    if (to !== undefined) arrows.push({ from: file, to, names, value });
  };
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      add(node.moduleSpecifier, namesOf(node), !isTypeOnly(node));
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(/** @type {ts.Expression} */ (node.argument.literal), [], false);
    }
    // Of several comments before one node, ts.getJSDocTags() has only the last.
    const comments = /** @type {{ jsDoc?: ts.JSDoc[] }} */ (node).jsDoc ?? [];
    for (const tag of comments.flatMap(({ tags = [] }) => [...tags])) {
      if (ts.isJSDocImportTag(tag)) add(tag.moduleSpecifier, [], false);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return arrows;
}

/**
 * Whether a file holds nothing but `export type { Name } from './file.js'`.
 *
 * @param {string} file
 */
export function onlyPassesTypesOn(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  return source.statements.every(
    (statement) =>
      ts.isExportDeclaration(statement) &&
      isTypeOnly(statement) &&
      statement.moduleSpecifier !== undefined &&
      statement.exportClause !== undefined,
  );
}

/** @param {ts.ImportDeclaration | ts.ExportDeclaration} statement the names as the other file has them */
function namesOf(statement) {
  const list = ts.isExportDeclaration(statement) ? statement.exportClause : statement.importClause?.namedBindings;
  if (list === undefined || !(ts.isNamedImports(list) || ts.isNamedExports(list))) return [];
  return list.elements.map((element) => (element.propertyName ?? element.name).text);
}

/** @param {ts.ImportDeclaration | ts.ExportDeclaration} statement */
function isTypeOnly(statement) {
  if (ts.isExportDeclaration(statement)) {
    const clause = statement.exportClause;
    return statement.isTypeOnly || (clause !== undefined && ts.isNamedExports(clause) && allTypes(clause.elements));
  }
  const clause = statement.importClause;
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const bindings = clause.namedBindings;
  const named = bindings !== undefined && ts.isNamedImports(bindings) ? bindings.elements : undefined;
  return clause.name === undefined && named !== undefined && allTypes(named);
}

/** @param {ts.NodeArray<ts.ImportSpecifier | ts.ExportSpecifier>} elements */
function allTypes(elements) {
  return elements.length > 0 && elements.every((element) => element.isTypeOnly);
}

/** @param {string} path as it is imported: with the extension that it has after the build */
function sourceOf(path) {
  return [path.replace(/\.js$/, '.ts'), path].find((candidate) => existsSync(candidate));
}
