export { softModel } from './soft-model.js';
export * from './headers/index.js';
export * from './match/index.js';
