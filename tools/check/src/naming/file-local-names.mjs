/**
 * The names that a C++ source gives to what no other source sees: macros, `static` and in unnamed namespaces; and the
 * `extern "C"` functions, which two libraries of a package may both define. It reads the project's formatting, in which
 * such declarations begin in the first column.
 * @param {string} text
 * @returns {string[]}
 */
export function fileLocalNames(text) {
  const names = [];
  let local = false;
  for (const line of text.split('\n')) {
    if (/^(namespace|extern "C") \{/.test(line)) local = true;
    else if (/^\}.*\/\/ (namespace|extern "C")$/.test(line)) local = false;
    const macro = /^#define (\w+)/.exec(line)?.[1];
    if (macro !== undefined) names.push(macro);
    else if (local || /^(static|extern "C") /.test(line)) names.push(...declared(line));
  }
  return names;
}

/**
 * The last word before the parameters, the value or the body; of constants, those that follow in the same line as well.
 * @param {string} line
 * @returns {string[]}
 */
function declared(line) {
  if (!/^[A-Za-z_]/.test(line) || /^(namespace|template|static_assert|extern "C" \{|[A-Z_]+\()/.test(line)) return [];
  const constants = [...line.matchAll(/(?:^constexpr .*?|, )(k[A-Z]\w*)(?= =|\[|\{)/g)].map(([, name]) => name ?? '');
  if (constants.length > 0) return constants;
  const head = line.replace(/^extern "C" /, '').split(/(?<!:):(?!:)|[([{=;]/, 1)[0] ?? '';
  const name = /(\w+)\W*$/.exec(head.replace(/ final\b/, ''))?.[1];
  return name === undefined || /^(struct|enum|union|class|__.*)$/.test(name) ? [] : [name];
}
