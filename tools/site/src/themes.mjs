// The reference by theme: what a package exports stands under the theme of the file that declares it.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Comment, CommentTag, ReflectionKind } from 'typedoc/models';
import { libraryPackages } from '../../setup/src/packages.mjs';

/** @import { DeclarationReflection, ProjectReflection, Reflection } from 'typedoc' */

/** @type {Record<string, Record<string, string>>} the beginning of a path in `src`, and its theme, by package */
const themes = Object.fromEntries(libraryPackages().map(({ name, folder }) => [name, themesIn(folder)]));

/** The order of all themes, for typedoc's `categoryOrder`. */
export const themeOrder = [...new Set(Object.values(themes).flatMap((each) => Object.values(each)))];

/** @param {string} folder a package's @returns {Record<string, string>} */
function themesIn(folder) {
  const path = join(folder, 'themes.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}

/**
 * @param {Reflection} reflection
 * @param {string} theme
 */
export function putUnder(reflection, theme) {
  reflection.comment ??= new Comment();
  reflection.comment.blockTags.push(new CommentTag('@category', [{ kind: 'text', text: theme }]));
}

/**
 * Gives each export of the packages' modules its theme.
 * @param {ProjectReflection} project
 */
export function putUnderThemes(project) {
  for (const { module, packageName } of modules(project)) {
    for (const child of module.children ?? []) {
      const theme = themeOf(packageName, project.getSymbolIdFromReflection(child)?.packagePath);
      if (theme !== undefined) putUnder(child, theme);
    }
  }
}

/**
 * The modules with exports, and the packages that they belong to.
 * @param {ProjectReflection} project
 * @returns {{ module: DeclarationReflection, packageName: string }[]}
 */
export function modules(project) {
  return (project.children ?? []).flatMap((top) => {
    const inner = (top.children ?? []).filter((child) => child.kindOf(ReflectionKind.Module));
    return (inner.length === 0 ? [top] : inner).map((module) => ({ module, packageName: top.name }));
  });
}

/**
 * @param {string} packageName
 * @param {string | undefined} path from the package's folder
 */
function themeOf(packageName, path) {
  const within = path?.replace(/^src\//, '');
  return within === undefined
    ? undefined
    : Object.entries(themes[packageName] ?? {})
        .filter(([start]) => within.startsWith(start))
        .sort(([a], [b]) => b.length - a.length)[0]?.[1];
}
