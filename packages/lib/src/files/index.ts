/** The files that a transfer reads and writes, and its progress bar. */
export { ProgressBar } from './progress-bar.js';
export { SourceFile } from './source-file.js';
export { TargetFile } from './target-file.js';
