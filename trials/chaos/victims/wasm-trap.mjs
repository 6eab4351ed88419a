// A fault that is none: V8 catches accesses beyond the memory of WebAssembly by a handler of SIGSEGV.

// (module (memory 1) (func (export "load") (param i32) (result i32) local.get 0 i32.load))
const MODULE = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127, 3, 2, 1, 0, 5, 3, 1, 0, 1],
  ...[7, 8, 1, 4, 108, 111, 97, 100, 0, 0, 10, 9, 1, 7, 0, 32, 0, 40, 2, 0, 11],
);

/** The number of traps out of 10 that became a RuntimeError. */
export function trap() {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(MODULE));
  let traps = 0;
  for (let i = 0; i < 10; i++) {
    try {
      exports.load(70_000 + i);
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) traps++;
    }
  }
  return traps;
}
