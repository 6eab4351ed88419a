import type { Comparison, Contender, Extent } from '../comparison.js';
import { figureOf } from '../run/measurement.js';

const DEVICES = 'mlx5_soft0,kind=mlx5,switch=bench,learning=0;mlx5_soft1,kind=mlx5,switch=bench';

/** Frames through packet reformat actions of the mlx5 model, beside a plain copy of the same frames. */
export function reformatComparisons({ scale, quick }: Extent): Comparison[] {
  const count = String(Math.max(64, Math.round(500_000 * scale)));
  return (quick ? [64] : [64, 1500]).map((bytes): Comparison => {
    const contender = (name: string, what: string): Contender => ({
      name,
      program: 'reformat.mjs',
      configuration: DEVICES,
      args: [what, String(bytes), count],
    });
    return {
      name: `frames of ${bytes} bytes from one mlx5 model device to another, one thread, in batches of 64`,
      unit: 'frames/s',
      valueOf: (measurement) => figureOf(measurement, 'rate'),
      better: 'large',
      contenders: [
        contender('a plain copy', 'copy'),
        contender('no reformat', 'forward'),
        contender('VXLAN encap', 'encap'),
        contender('VXLAN decap', 'decap'),
      ],
      targets: [],
    };
  });
}
