/** Failures that name a remedy, and the reasons of system errors in words. */
export { codeOf, Failure, messageOf } from './failure.js';
export { fileFailure, fileReason } from './files.js';
