/** The signal with a delay, in which the NIC can report the failure itself, with a better reason. */
export function delayed(signal: AbortSignal, milliseconds: number): AbortSignal {
  const controller = new AbortController();
  const later = () => {
    setTimeout(() => {
      controller.abort(signal.reason);
    }, milliseconds).unref();
  };
  if (signal.aborted) later();
  else signal.addEventListener('abort', later, { once: true });
  return controller.signal;
}
