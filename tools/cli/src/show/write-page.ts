import { writeFileSync } from 'node:fs';
import { fileFailure } from '@verbs/lib/failure';
import { note } from '../output.js';
import { plural } from '../text.js';
import type { Course } from './course.js';
import { page } from './page.js';

/** Writes the page of a course, and says so. */
export function writePage(course: Course, path: string): void {
  try {
    writeFileSync(path, page(course));
  } catch (error) {
    throw fileFailure(`cannot write the page ${path}`, error);
  }
  note(`${path}: ${plural(course.packets.length, 'packet')} of ${plural(course.pairs.length, 'pair')}`);
}
