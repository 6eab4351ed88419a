// Where lines may end. Long names in tables break between their words: on a telephone there is no room for `grh.sgidIndex` or
// RNR_RETRY_EXC_ERR in one line. A browser also ends lines behind the hyphens of `--json`, which the style then prevents.

/** Not within Q_Key, __stat and @verbs/core. */
const IN_TEXT = /(?<=[a-z\d]{2}[_/])(?<!@\w+\/)(?=\w)/gi;
const IN_CODE = /(?<=[A-Za-z\d)][_/.(=:])(?<!@\w+\/)(?=[\w…])|(?<=[a-z\d])(?=[A-Z])/g;

/**
 * @param {string} html of a page
 * @returns {string} the same, with `<wbr>` in the cells of its tables, and a class for options of commands
 */
export function withBreaks(html) {
  const cells = html.replaceAll(/<(t[dh])\b[^>]*>.*?<\/\1>/gs, (cell) =>
    cell.replaceAll(/(<code>|>)([^<]+)/g, (_, /** @type {string} */ tag, /** @type {string} */ text) => {
      return tag + text.replaceAll(tag === '<code>' ? IN_CODE : IN_TEXT, '<wbr>');
    }),
  );
  return cells.replaceAll(/<code>(?=--?\w[\w-]*<)/g, '<code class="option">');
}
