import { type SoftModel, softModelAt } from '@verbs/core/provider';

/**
 * The librdmacm of the software NIC, for `verbs run` and for `dropInDirectory()` of @verbs/soft. It brings no device of
 * its own: it connects over every device of the software NIC.
 */
export const softModel: SoftModel<'rdmacm'> = softModelAt({
  name: '@verbs/rdmacm',
  kind: 'rdmacm',
  library: 'libverbs-soft-rdmacm.so.1',
  from: import.meta.url,
});
