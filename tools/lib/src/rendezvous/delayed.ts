/** The signal, aborted some time later: time for the NIC to say itself what it has noticed. */
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
