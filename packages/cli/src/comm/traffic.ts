/** Messages and bytes sent to a peer and received from it. */
export interface Traffic {
  sentMessages: number;
  sentBytes: number;
  receivedMessages: number;
  receivedBytes: number;
}

export function noTraffic(): Traffic {
  return { sentMessages: 0, sentBytes: 0, receivedMessages: 0, receivedBytes: 0 };
}

export function trafficText({ sentMessages, sentBytes, receivedMessages, receivedBytes }: Traffic): string {
  return `sent ${sentMessages} (${sentBytes} bytes), received ${receivedMessages} (${receivedBytes} bytes)`;
}
