import { folderOf, load, loadedFrom } from '@verbs/native-files';

/** Where a package has its addon. */
export interface AddonPlace {
  /** The package's name, '@verbs/hbl'. */
  name: string;
  /**
   * The addon's file, by its path from the package's folder. If there is none, the file of the same name in
   * `prebuilds/<platform>-<arch>-<libc>/` is loaded.
   */
  file: string;
  /** `import.meta.url` of a module of the package, anywhere in its `src/` or `dist/`. */
  from: string;
}

/**
 * Loads the Node-API addon of a package. It never throws, so that the package can be imported where its addon cannot be
 * used. Then each use of the result throws an Error with the reason and the remedy, the `code` ERR_VERBS_NATIVE, and the
 * loader's own error as its `cause`.
 *
 * @param setUp is called once with the addon that was loaded; its error is one of loading
 */
export function loadAddon(place: AddonPlace, setUp?: (addon: object) => void): unknown {
  return load(place, setUp);
}

/** The folder of a native file: that of the build, or that of the package's prebuilt files. */
export function nativeFolder(place: AddonPlace): string {
  return folderOf(place);
}

/** The folder of the package that an addon was loaded from. */
export function packageOf(addon: object): string {
  return loadedFrom(addon) ?? 'an unknown folder';
}
