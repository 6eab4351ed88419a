/** One finding of `verbs doctor`: the topic, the state, and the remedy if the state is not right. */
export interface Finding {
  topic: string;
  level: 'ok' | 'warn' | 'fail';
  text: string;
  help?: string;
}

export const ok = (topic: string, text: string): Finding => ({ topic, level: 'ok', text });

export const warn = (topic: string, text: string, help: string): Finding => ({ topic, level: 'warn', text, help });

export const fail = (topic: string, text: string, help: string): Finding => ({ topic, level: 'fail', text, help });
