import { writeFileSync } from 'node:fs';
import { fileFailure } from '@verbs/lib/failure';
import { note } from '../output.js';
import { plural } from '../text.js';
import { type Course, packetCount } from './course.js';
import { page } from './page.js';

/** Writes the page of a course, and says so. */
export function writePage(course: Course, path: string): void {
  const text = page(course);
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw fileFailure(`cannot write the page ${path}`, error);
  }
  note(`${path}: ${plural(packetCount(course), 'packet')} of ${plural(course.pairs.length, 'pair')}`);
}
