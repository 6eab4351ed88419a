import { type SoftModel, softModelAt } from '@verbs/core/provider';

/**
 * The software BlueField, for `verbs run` and for `dropInDirectory()` of @verbs/soft. A device of the configuration is one
 * of its devices by `kind=doca`; the README has the options.
 */
export const softModel: SoftModel<'doca'> = softModelAt({
  name: '@verbs/doca-comm',
  kind: 'doca',
  library: 'libverbs-soft-doca.so.1',
  from: import.meta.url,
});
