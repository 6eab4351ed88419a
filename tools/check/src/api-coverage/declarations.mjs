import ts from 'typescript';

/**
 * Every public function, and every public member of every public class, of a package: `openDevice`,
 * `Context.queryPort`, and in a namespace `dr.Domain.sync`; with what its documentation says.
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
  const add = (/** @type {ts.Symbol} */ space, /** @type {string} */ prefix) => {
    for (const exported of checker.getExportsOfModule(space)) {
      const symbol = meant(checker, exported);
      const name = prefix + exported.name;
      members.set(name, document(symbol));
      if ((symbol.flags & ts.SymbolFlags.Namespace) !== 0) add(symbol, `${name}.`);
      if ((symbol.flags & ts.SymbolFlags.Class) === 0) continue;
      for (const property of checker.getDeclaredTypeOfSymbol(symbol).getProperties()) {
        if (isPublic(property)) members.set(`${name}.${property.name}`, document(property));
      }
    }
  };
  add(module, '');
  return members;
}

/**
 * The function, class or namespace behind an export. In a namespace bundlers write `const x: typeof y` for it.
 * @param {ts.TypeChecker} checker
 * @param {ts.Symbol} exported
 * @returns {ts.Symbol}
 */
function meant(checker, exported) {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const target = symbol.flags & ts.SymbolFlags.Variable ? checker.getTypeOfSymbol(symbol).symbol : undefined;
  // A constant's type may have no symbol.
  return target && target.flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Class) ? target : symbol;
}

/** @param {ts.Symbol} property */
function isPublic({ valueDeclaration }) {
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  return valueDeclaration === undefined || (ts.getCombinedModifierFlags(valueDeclaration) & hidden) === 0;
}
