import { links } from '../../vitest.links.ts';

export default links();
