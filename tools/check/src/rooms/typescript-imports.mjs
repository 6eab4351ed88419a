import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** @import { Arrow } from './graph.mjs' */

/**
 * The relative imports of a TypeScript file: of values, or of types only. A call of import() is left out, since it runs
 * when both modules are there.
 *
 * @param {string} file
 * @returns {Arrow[]}
 */
export function typescriptImports(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  return source.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const specifier = statement.moduleSpecifier;
    if (specifier === undefined || !ts.isStringLiteral(specifier) || !specifier.text.startsWith('.')) return [];
    const to = sourceOf(join(dirname(file), specifier.text));
    return to === undefined ? [] : [{ from: file, to, value: !isTypeOnly(statement) }];
  });
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
