// The files and folders that a Markdown text names: the targets of its links, and code that looks like a path.
import { posix } from 'node:path';

// Folders at the root of the repository, and folders of a package, with which a path in code begins.
const REPOSITORY = /^(packages|examples|trials|tools|docs)\//;
const PACKAGE = /^(native|src|test|bin)\//;
// A path, with `*` for any name.
const PATH = /^[\w.*@-]+(\/[\w.*@-]+)*\/?$/;
// A part in capitals stands for a name of the reader's choice, as in `test/NAME_test.cc`.
const PLACEHOLDER = /(^|[/_.-])(?!README|CONTRIBUTING|SECURITY|LICENSE)[A-Z]{2,}([/_.-]|$)/;
// Made by a build.
const OUTPUT = /(^|\/)(build|dist|node_modules|test-results)(\/|$)/;

/**
 * @param {string} text of the document
 * @param {string} directory of the document, relative to the root and with slashes; '' is the root
 * @param {string | undefined} packageDirectory of the package that the document belongs to
 * @returns {{ path: string, line: number }[]} paths relative to the root
 */
export function namedPaths(text, directory, packageDirectory) {
  /** @type {{ path: string, line: number }[]} */
  const found = [];
  let fence = false;
  for (const [index, line] of text.split('\n').entries()) {
    const add = (/** @type {string} */ path) => found.push({ path: posix.normalize(path), line: index + 1 });
    if (line.trimStart().startsWith('```')) {
      fence = !fence;
      continue;
    }
    // In a block of code, words; outside, code spans.
    const words = fence ? line.split(/[\s'"]+/) : [...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
    for (const word of words) {
      const path = word.replace(/:\d+(-\d+)?$/, '');
      if (!PATH.test(path) || PLACEHOLDER.test(path) || OUTPUT.test(path)) continue;
      if (REPOSITORY.test(path)) add(path);
      else if (!fence && packageDirectory !== undefined && PACKAGE.test(path)) add(posix.join(packageDirectory, path));
    }
    if (fence) continue;
    for (const [, target = ''] of line.matchAll(/\]\(([^)\s]+)\)/g)) {
      const [path = ''] = target.split('#');
      if (path !== '' && !/^[a-z]+:/.test(path)) add(posix.join(directory, path));
    }
  }
  return found;
}

/**
 * @param {readonly string[]} files of the repository
 * @returns {(path: string) => boolean} whether a path, which may contain `*`, names one of the files or their folders
 */
export function pathFinder(files) {
  const known = new Set(['.', ...files]);
  for (const file of files) {
    for (let folder = posix.dirname(file); folder !== '.'; folder = posix.dirname(folder)) known.add(folder);
  }
  return (path) => {
    const name = path.replace(/\/$/, '');
    if (!name.includes('*')) return known.has(name);
    const pattern = name.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
    const expression = new RegExp(`^${pattern.join('[^/]*')}$`);
    return [...known].some((each) => expression.test(each));
  };
}
