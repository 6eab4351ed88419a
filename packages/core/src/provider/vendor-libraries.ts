import { errno } from '../base/errno.js';
import { VerbsError } from '../base/errors.js';
import { addHints, type Hints } from '../base/hints.js';
import { native, type NativeHandle, type NativeLibrary } from '../base/native.js';
import type { Context } from '../device/context.js';
import { kernelHas } from '../device/device-info.js';
import { devicesIn, loadLibrary, releaseOf, softFailure, softModule } from '../library/libraries.js';
import { libraryTried } from '../library/library-loads.js';
import { handleOf } from '../lifetime/resource.js';
import type { DeviceInfo, LibraryKind } from '../types/device.js';

/** The result of loading a library: its handle, or the reason why it does not load. */
export type OpenedLibrary<Vendor extends object> =
  | {
      /** The addon's handle of the loaded library. */
      handle: Vendor;
      /** Its file, behind all links; '' if that cannot be told. */
      file: string;
      /** Missing. */
      reason?: never;
    }
  | {
      /** Missing. */
      handle?: never;
      /** Missing. */
      file?: never;
      /** The loader's error. */
      reason: string;
    };

/** A vendor package's description of its library. `Vendor` is the addon's handle of the loaded library. */
export interface VendorLibrary<Vendor extends object> {
  /** The `kind` of the software NIC's devices, 'hbl'. */
  kind: string;
  /** The system's library, 'libhbl.so.1'. */
  system: string;
  /** Names and paths of it, in the order in which they are tried; `system` alone if missing. */
  places?: () => string[];
  /**
   * The prefix of ordinary verbs that the library may bring in a build of their own, 'hl' for hlibv_open_device. If it does,
   * its devices are listed, opened and used by those.
   */
  verbsPrefix?: string;
  /** The remedy where it is missing. */
  install: string;
  /** The hardware that it drives, 'a Gaudi', and how the names of its devices begin, 'hbl_'. */
  drives?: {
    /** 'a Gaudi' */
    hardware: string;
    /** 'hbl_' */
    devices: string;
  };
  /** What follows for programs from this library, by its functions or its release. */
  describe?: (library: Vendor, own: boolean) => string;
  /** The model's library. */
  model: string;
  /** The device that the software NIC gets if none of this kind is configured, 'hbl_0,kind=hbl'. */
  defaultDevice: string;
  /** The C function that opens a device. */
  openSyscall: string;
  /** Remedies for errors of its functions. */
  hints: Hints;
  /** Loads a library of that name. */
  open: (name: string) => OpenedLibrary<Vendor>;
  /** Hands the software NIC to the model, which adds its kind of device: 0 or a negative errno. */
  attachModel: (library: Vendor, libibverbs: NativeLibrary) => number;
  /** Whether the library drives the device of that name. */
  isSupported: (library: Vendor, libibverbs: NativeLibrary, name: string) => boolean;
}

/**
 * A vendor's library and its libibverbs. Calls of a context go to the vendor's library of the same pair, never to the
 * other.
 */
export interface Libraries<Vendor extends object> {
  /** The vendor's. */
  vendor: Vendor;
  /** The libibverbs that its calls belong to. */
  libibverbs: NativeLibrary;
  /** Whether `libibverbs` is a build of the vendor's, whose devices no other library lists. */
  own?: boolean;
  /** The file of the vendor's, behind all links; '' if that cannot be told. */
  file: string;
}

/** What there is of a vendor's library on this machine, and what follows. */
export interface VendorLibraryReport {
  /** 'libhbl' */
  name: string;
  /** Its file; missing if it is not there. */
  file?: string;
  /** Its release, if the library tells it: 'rdma-core 44.0'. */
  release?: string;
  /** What follows for programs; where it cannot be used, why. */
  text: string;
  /** What to do, where it cannot be used. */
  remedy?: string;
  /** The hardware that it drives, 'a Gaudi'. */
  hardware: string;
  /** How the kernel's names of such devices begin, 'hbl_'; missing if no name tells. */
  devices?: string;
}

/** Why there are no libraries. */
export interface Missing {
  /** In all, with the remedy. */
  reason: string;
  /** The loader's error, where the remedy is to install the library. */
  failure?: string;
}

interface SoftControl {
  deviceNames(): string[];
  addDevices(text: string): void;
}

/** A vendor's library of both kinds: the system's, and the model on the software NIC. */
export class VendorLibraries<Vendor extends object> {
  /** The package's description of its library. */
  readonly about: VendorLibrary<Vendor>;
  readonly #found = new Map<LibraryKind, Libraries<Vendor> | Missing>();

  constructor(about: VendorLibrary<Vendor>) {
    this.about = about;
    addHints(about.hints);
  }

  /** Both libraries of that kind, or why there are none. */
  find(kind: LibraryKind): Libraries<Vendor> | Missing {
    let found = this.#found.get(kind);
    if (found === undefined) {
      found = this.#load(kind);
      this.#found.set(kind, found);
    }
    return found;
  }

  /** The libraries of that kind; throws where there are none. */
  for(kind: LibraryKind, syscall: string): Libraries<Vendor> {
    const libraries = this.find(kind);
    if ('reason' in libraries) throw new VerbsError(errno.ENOSYS, syscall, { hint: libraries.reason });
    return libraries;
  }

  /** An open context's own vendor library and its handle, for a call. Throws TypeError for anything else. */
  forContext(
    context: unknown,
    syscall: string,
  ): {
    /** The vendor's library. */
    vendor: Vendor;
    /** The context's. */
    handle: NativeHandle;
  } {
    const handle = handleOf(context, 'Context', 'ctx', syscall);
    return { vendor: this.for((context as Context).device.library, syscall).vendor, handle };
  }

  /** Whether the vendor's library of that kind drives the device. */
  isSupported(kind: LibraryKind, name: string): boolean {
    const libraries = this.find(kind);
    return 'vendor' in libraries && this.about.isSupported(libraries.vendor, libraries.libibverbs, name);
  }

  /** Devices that only the vendor's own build of libibverbs lists; undefined if there is no such build. */
  ownDevices(): DeviceInfo[] | undefined {
    const found = this.find('system');
    return 'vendor' in found && found.own === true ? devicesIn('system', found.libibverbs) : undefined;
  }

  /**
   * Adds a device of this kind to the software NIC if it has none.
   *
   * @returns why it did not: the machine has a real device of that name, which a program must not take for the model
   */
  ensureSoftDevice(): string | undefined {
    if ('reason' in this.find('soft')) return undefined;
    const found = softModule();
    if ('reason' in found) return undefined;
    const soft = found as unknown as SoftControl;
    const { kind, defaultDevice } = this.about;
    // lastError() holds the reason why a configured device is missing. A default device would hide it.
    if (new RegExp(`kind\\s*=\\s*${kind}`).test(process.env['VERBS_SOFT'] ?? '')) return undefined;
    if (soft.deviceNames().some((name) => this.isSupported('soft', name))) return undefined;
    const [name = ''] = defaultDevice.split(',');
    if (kernelHas(name)) return `the kernel has a device ${name}; for a model name it: VERBS_SOFT='${defaultDevice}'`;
    soft.addDevices(defaultDevice);
    return undefined;
  }

  /** What there is of the vendor's own library. */
  report(): VendorLibraryReport {
    const { drives, describe, install } = this.about;
    const { hardware = 'its hardware', devices } = drives ?? {};
    const about = { name: this.#name(), hardware, ...(devices !== undefined && { devices }) };
    const found = this.find('system');
    if ('reason' in found) {
      const { reason, failure } = found;
      return failure === undefined ? { ...about, text: reason } : { ...about, text: failure, remedy: install };
    }
    const { vendor, file, own = false } = found;
    return { ...about, file, ...releaseOf(file), text: describe?.(vendor, own) ?? '' };
  }

  #name(): string {
    const { system } = this.about;
    return system.split('.so')[0] ?? system;
  }

  #load(kind: LibraryKind): Libraries<Vendor> | Missing {
    const found = kind === 'system' ? this.#openSystem() : this.#openSoft();
    const { system, model } = this.about;
    const path = kind === 'system' ? system : model;
    libraryTried(this.#name(), kind, 'reason' in found ? found : { path, ...found });
    return found;
  }

  #openSystem(): (Libraries<Vendor> & { path: string }) | Missing {
    const { system, places, install, open } = this.about;
    let failure: string | undefined;
    for (const path of places?.() ?? [system]) {
      const opened = open(path);
      if (opened.reason !== undefined) {
        failure ??= opened.reason;
        continue;
      }
      const own = this.#ownVerbs(path);
      const { handle: vendor, file } = opened;
      if (own !== undefined) return { vendor, libibverbs: own, own: true, file, path };
      const verbs = loadLibrary('system');
      return 'reason' in verbs ? verbs : { vendor, libibverbs: verbs.handle, file, path };
    }
    return { reason: `${failure ?? system}: ${install}`, failure: failure ?? system };
  }

  #ownVerbs(path: string): NativeLibrary | undefined {
    const { verbsPrefix } = this.about;
    return verbsPrefix === undefined ? undefined : native.openLibrary(path, verbsPrefix).handle;
  }

  #openSoft(): Libraries<Vendor> | { reason: string } {
    const { model, open, attachModel } = this.about;
    const verbs = loadLibrary('soft');
    if ('reason' in verbs) return verbs;
    const opened = open(model);
    if (opened.reason !== undefined) return { reason: `${opened.reason}: build the package: npm run build:native` };
    const code = attachModel(opened.handle, verbs.handle);
    if (code !== 0 && code !== -errno.EEXIST) {
      const what = `the software NIC does not take the model of ${this.about.kind} devices`;
      return { reason: `${what} (errno ${-code}): update @verbs/soft` };
    }
    return { vendor: opened.handle, libibverbs: verbs.handle, file: opened.file };
  }
}

/** The software NIC's own words, where they say more than an errno. */
export function softHint(kind: LibraryKind): string | undefined {
  return kind === 'soft' ? softFailure() : undefined;
}
