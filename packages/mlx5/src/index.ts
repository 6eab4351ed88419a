export { softModel } from './soft-model.js';
