/** One answer of `verbs doctor`: what was looked at, what was seen, and what would help if it is not as it should be. */
export interface Finding {
  topic: string;
  level: 'ok' | 'warn' | 'fail';
  text: string;
  help?: string;
}

export const ok = (topic: string, text: string): Finding => ({ topic, level: 'ok', text });

export const warn = (topic: string, text: string, help: string): Finding => ({ topic, level: 'warn', text, help });

export const fail = (topic: string, text: string, help: string): Finding => ({ topic, level: 'fail', text, help });
