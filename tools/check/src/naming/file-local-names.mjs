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
    const name =
      /^#define (\w+)/.exec(line)?.[1] ?? (local || /^(static|extern "C") /.test(line) ? declared(line) : undefined);
    if (name !== undefined) names.push(name);
  }
  return names;
}

/**
 * The last word before the parameters, the value or the body.
 * @param {string} line
 */
function declared(line) {
  if (!/^[A-Za-z_]/.test(line) || /^(namespace|template|extern "C" \{)/.test(line)) return undefined;
  const head = line.replace(/^extern "C" /, '').split(/(?<!:):(?!:)|[([{=;]/, 1)[0] ?? '';
  return /(\w+)\W*$/.exec(head.replace(/ final\b/, ''))?.[1];
}
