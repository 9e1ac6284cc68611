// Stands for what Redocly's walk and assertions import and do not need here: files, colours, paths of the machine.
export class Source {
  constructor(absoluteRef, body) {
    this.absoluteRef = absoluteRef;
    this.body = body;
  }
}

const same = (text) => text;
export const colorize = new Proxy({}, { get: () => same });

const nothing = () => undefined;
export const logger = { info: nothing, warn: nothing, error: nothing, output: nothing, printNewLine: nothing };

export class AjvValidator {
  constructor() {
    throw new Error('"schema" cannot stand in one rule with assertions of a plugin. Make it a rule of its own.');
  }
}

export const extname = (path) => /[^/](\.[^./]*)$/.exec(path)?.[1] ?? '';
export const dirname = (path) => path.replace(/\/?[^/]*$/, '') || '.';

export function resolve(...parts) {
  const steps = [];
  for (const part of parts)
    for (const step of part.startsWith('/') ? [null, ...part.split('/')] : part.split('/')) {
      if (step === null) steps.length = 0;
      else if (step === '..') steps.pop();
      else if (step !== '.' && step !== '') steps.push(step);
    }
  return `/${steps.join('/')}`;
}
