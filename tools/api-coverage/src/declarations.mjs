import ts from 'typescript';

/**
 * Every public function, and every public member of every public class, of a package: `openDevice`,
 * `Context.queryPort`; with what its documentation says.
 * @param {string} file the bundled declarations
 * @returns {Map<string, string>}
 */
export function publicMembers(file) {
  const program = ts.createProgram([file], { target: ts.ScriptTarget.ES2022, skipLibCheck: true });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} is no module: build the package first`);
  const members = new Map();
  const document = (/** @type {ts.Symbol} */ symbol) =>
    ts.displayPartsToString(symbol.getDocumentationComment(checker));
  for (const exported of checker.getExportsOfModule(module)) {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    members.set(exported.name, document(symbol));
    if ((symbol.flags & ts.SymbolFlags.Class) === 0) continue;
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    for (const property of type.getProperties()) {
      if (isPublic(property)) members.set(`${exported.name}.${property.name}`, document(property));
    }
  }
  return members;
}

/** @param {ts.Symbol} property */
function isPublic({ valueDeclaration }) {
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  return valueDeclaration === undefined || (ts.getCombinedModifierFlags(valueDeclaration) & hidden) === 0;
}
