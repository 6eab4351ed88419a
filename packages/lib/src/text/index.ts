/** Text of others (peers, files, programs, packets) on its way to a terminal, a page or a document. Usable in a browser. */
export { jsonText, lineOf, textOf } from './foreign.js';
