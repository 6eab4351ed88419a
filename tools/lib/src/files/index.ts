/** The files that a transfer reads and writes, its progress bar, and failures that name a remedy. */
export { completionFailure, Failure, fileFailure } from './failure.js';
export { ProgressBar } from './progress-bar.js';
export { SourceFile } from './source-file.js';
export { TargetFile } from './target-file.js';
