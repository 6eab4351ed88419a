// typedoc's plugin of this site: the repository's documents as pages, the reference by theme, and links between the two.
import { basename, join, relative } from 'node:path';
import { Application, KindRouter, PageEvent } from 'typedoc';
import { ReflectionKind } from 'typedoc/models';
import { libraryPackages } from '../setup/src/packages.mjs';
import { root } from '../setup/src/paths.mjs';
import { addDocuments, frontPage, urls } from './src/documents.mjs';
import { withBreaks } from './src/breaks.mjs';
import { pages } from './src/pages.mjs';
import { finder, sourceLinks, withLinks } from './src/reference-links.mjs';
import { putUnder, putUnderThemes, themeOrder } from './src/themes.mjs';

/** @import { CommentDisplayPart, ProjectReflection, Reflection } from 'typedoc' */

/** What typedoc does at the same event: 10000 and 0 resolve links and read READMEs, -200 makes the categories. */
const BEFORE_ALL = 20_000;
const AFTER_READMES = -50;
const AFTER_CATEGORIES = -400;

const packages = libraryPackages();
const packageOrder = packages.map(({ name }) => name);

/** The order of the modules of a package: what programs import first. */
const moduleOrder = ['index', 'stream', 'rendezvous', 'provider'];

/** @param {Application} app */
export function load(app) {
  app.on(Application.EVENT_BOOTSTRAP_END, () => {
    const themes = [...new Set(pages().map(({ theme }) => theme))];
    const project = themes.indexOf('Project');
    themes.splice(project === -1 ? themes.length : project, 0, 'Reference');
    app.options.setValue(
      'entryPoints',
      packages.map(({ folder }) => relative(root, folder)),
    );
    app.options.setValue('categoryOrder', [...themes, ...themeOrder, '*']);
  });
  app.on(Application.EVENT_PROJECT_REVIVE, addPages, BEFORE_ALL);
  app.on(
    Application.EVENT_PROJECT_REVIVE,
    (project) => {
      addLinks(app, project);
    },
    AFTER_READMES,
  );
  app.on(Application.EVENT_PROJECT_REVIVE, order, AFTER_CATEGORIES);
  app.renderer.defineRouter('site', SiteRouter);
  app.renderer.on(PageEvent.END, (page) => {
    page.contents &&= withBreaks(page.contents);
  });

  /** @param {ProjectReflection} project */
  function addPages(project) {
    for (const module of project.children ?? []) {
      const folder = join(root, 'packages', module.name.replace('@verbs/', ''));
      project.files.registerReflectionPath(/** @type {never} */ (folder), module);
      project.files.registerReflectionPath(/** @type {never} */ (join(folder, 'README.md')), module);
      putUnder(module, 'Reference');
    }
    putUnderThemes(project);
    addDocuments(app, project);
  }
}

/**
 * @param {Application} app
 * @param {ProjectReflection} project
 */
function addLinks(app, project) {
  const find = finder(project);
  /** @param {CommentDisplayPart[]} parts @param {string} [packageName] */
  const linked = (parts, packageName) => {
    sourceLinks(project, parts);
    return withLinks(parts, find, packageName);
  };
  project.readme = linked(frontPage(app, project));
  for (const module of project.children ?? []) {
    const [first] = module.readme ?? [];
    // The page has the name as its heading already.
    if (first?.kind === 'text') first.text = first.text.replace(/^# .*\n+/, '');
    if (module.readme) module.readme = linked(module.readme, module.name);
  }
  for (const document of project.getReflectionsByKind(ReflectionKind.Document)) {
    if (!document.isDocument()) continue;
    // A vendor's guide has the name of the vendor's package.
    document.content = linked(document.content, `@verbs/${basename(urls.get(document) ?? '')}`);
  }
}

/**
 * The packages, and the modules in a package, by what programs need first.
 * @param {ProjectReflection} project
 */
function order(project) {
  const place = (/** @type {Reflection} */ { name }) => packageOrder.indexOf(name);
  const reference = project.categories?.find(({ title }) => title === 'Reference');
  reference?.children.sort((a, b) => place(a) - place(b));
  for (const module of project.children ?? []) {
    for (const list of [
      module.children,
      module.childrenIncludingDocuments,
      ...(module.groups ?? []).map(({ children }) => children),
    ])
      list?.sort((a, b) => moduleOrder.indexOf(a.name) - moduleOrder.indexOf(b.name));
  }
}

class SiteRouter extends KindRouter {
  /** @override @param {Reflection} reflection */
  getIdealBaseName(reflection) {
    const url = urls.get(reflection);
    return url ?? `reference/${super.getIdealBaseName(reflection)}`;
  }
}
