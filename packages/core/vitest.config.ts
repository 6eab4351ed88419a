export { default } from '../../vitest.links.ts';
