import { type SoftModel, softModelAt } from '@verbs/core/provider';

/**
 * The model of these devices for the software NIC, for `verbs run` and for `dropInDirectory()` of @verbs/soft.
 *
 * A device of the configuration is an hbl device by `kind=hbl`. Options:
 *
 * - `profile`: `gaudi`, the default, has every feature of the manual, and the ordinary verbs; `gaudi2` accepts exactly
 *   the arguments that the kernel driver of a Gaudi2 accepts
 * - `ports`: 1 to 63, default 4
 * - `closed_ports`: a mask of the ports whose network interface is down; bit 1 is port 1
 */
export const softModel: SoftModel<'hbl'> = softModelAt({
  name: '@verbs/hbl',
  kind: 'hbl',
  library: 'libverbs-soft-hbl.so.1',
  from: import.meta.url,
});
