// The documents of the repository as pages.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MinimalSourceFile, normalizePath } from 'typedoc';
import { ReflectionKind } from 'typedoc/models';
import { root } from '../../setup/src/paths.mjs';
import { pageText, urlOf } from './page-text.mjs';
import { FRONT_PAGE, pages } from './pages.mjs';
import { putUnder } from './themes.mjs';

/** @import { Application, CommentDisplayPart, ProjectReflection, Reflection } from 'typedoc' */
/** @import { FileRegistry } from 'typedoc/models' */
/** @import { Page } from './pages.mjs' */

/**
 * What typedoc calls for each file of its options `projectDocuments` and `readme`. By these options a text cannot be changed
 * before it is read, and every title comes from a front matter, which readers of the file would see.
 * @typedef {object} DocumentAdder
 * @property {(parent: Reflection, file: MinimalSourceFile, title: string) => void} addDocument
 * @property {(file: MinimalSourceFile, files: FileRegistry) => { content: CommentDisplayPart[] }} parseRawComment
 */

/** The place of a page in the site, by the page's reflection. */
export const urls = /** @type {WeakMap<object, string>} */ (new WeakMap());

/**
 * Adds all pages to the project.
 * @param {Application} app
 * @param {ProjectReflection} project
 */
export function addDocuments(app, project) {
  for (const page of pages()) add(adderOf(app), project, project, page);
}

/**
 * @param {Application} app
 * @param {ProjectReflection} project
 */
export function frontPage(app, project) {
  const file = normalizePath(join(root, FRONT_PAGE));
  const { text } = pageText(readFileSync(file, 'utf8'), file);
  project.files.registerReflection(file, project);
  return adderOf(app).parseRawComment(new MinimalSourceFile(text, file), project.files).content;
}

/** @param {Application} app */
function adderOf(app) {
  return /** @type {DocumentAdder} */ (/** @type {unknown} */ (app.converter));
}

/**
 * @param {DocumentAdder} adder
 * @param {ProjectReflection} project
 * @param {Reflection} parent
 * @param {Page} page
 */
function add(adder, project, parent, page) {
  const file = normalizePath(join(root, page.path));
  const { title, text } = pageText(readFileSync(file, 'utf8'), file);
  adder.addDocument(parent, new MinimalSourceFile(text, file), page.title ?? title);
  const document = project.getReflectionsByKind(ReflectionKind.Document).at(-1);
  if (document === undefined) throw new Error(`${page.path} did not become a page`);
  urls.set(document, urlOf(page.path));
  if (parent === project) putUnder(document, page.theme);
  if (page.path.endsWith('/README.md')) project.files.registerReflectionPath(normalizePath(dirname(file)), document);
  for (const child of page.children) add(adder, project, document, child);
}
