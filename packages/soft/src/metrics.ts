/**
 * Counters as the text format of Prometheus has them (version 0.0.4): each is a metric `verbs_soft_NAME_total` with the
 * device as its label.
 */
export function metricsText(device: string, counters: Record<string, bigint>): string {
  return Object.entries(counters)
    .map(([name, value]) => {
      const metric = `verbs_soft_${name}_total`;
      return `# TYPE ${metric} counter\n${metric}{device="${device}"} ${value.toString()}\n`;
    })
    .join('');
}
