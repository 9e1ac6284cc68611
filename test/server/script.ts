import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ask, type Ask } from './http.ts';

/** One request of a script with what must come back. */
interface Step {
  name: string;
  line: number;
  ask: Ask;
  status: number;
  headers: [string, string][];
  body: string[];
}

/**
 * Makes a test of each step of a script. A step is a `# name`, lines `> …` of the request, then `< status`, `< Field: value` and `< | text`, which
 * the body must contain. A value is compared whole; `(none)`: the field is not there; `…text…`: it contains the text. `$name`
 * stands for a value of the test's own.
 */
export function testScript(file: URL, port: () => number, values: () => Readonly<Record<string, string>>): void {
  for (const step of parseScript(readFileSync(file, 'utf8'))) {
    test(`${step.name} (line ${step.line})`, async () => {
      const fill = (text: string) => fillText(text, values());
      const answer = await ask(port(), fillStep(step, values()));
      const body = answer.body.toString();
      const seen = step.headers.map(([name]) => [name, answer.headers.get(name.toLowerCase()) ?? '(none)']);
      const expected = step.headers.map(([name, value]) => [name, pattern(fill(value))]);
      expect({ status: answer.status, headers: seen, body }).toEqual({
        status: step.status,
        headers: expected,
        body: expect.any(String),
      });
      for (const text of step.body) expect(body).toContain(fill(text));
    });
  }
}

function fillText(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\$([a-z]\w*)/g, (_, name: string) => lookUp(values, name));
}

/** The request of a step with the test's own values in it. */
export function fillStep(step: Pick<Step, 'ask'>, values: Readonly<Record<string, string>>): Ask {
  const headers = (step.ask.headers ?? []).map(([name, value]) => [name, fillText(value, values)] as const);
  return { ...step.ask, target: fillText(step.ask.target, values), headers };
}

function lookUp(values: Readonly<Record<string, string>>, name: string): string {
  const value = values[name];
  if (value === undefined) throw new Error(`The script names $${name}, which the test does not have.`);
  return value;
}

/** `…text…` matches what contains the text. */
function pattern(value: string): unknown {
  return value.startsWith('…') ? expect.stringContaining(value.slice(1, -1)) : value;
}

/** The steps of a script, in order. */
export function parseScript(text: string): Step[] {
  const steps: Step[] = [];
  let step: Step | null = null;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('//')) continue;
    const malformed = () => new Error(`Line ${index + 1} of the script cannot be read: ${line}`);
    if (line.startsWith('# ')) {
      step = { name: line.slice(2), line: index + 1, ask: { target: '' }, status: 0, headers: [], body: [] };
      steps.push(step);
    } else if (step === null) throw malformed();
    else if (line.startsWith('> ')) readRequest(step, line.slice(2));
    else if (line.startsWith('< ')) readExpectation(step, line.slice(2));
    else throw malformed();
  }
  const vain = steps.find(({ status }) => !(status >= 200));
  if (vain) throw new Error(`The step "${vain.name}" expects no status.`);
  return steps;
}

function readRequest(step: Step, line: string): void {
  if (step.ask.target !== '') {
    step.ask = { ...step.ask, headers: [...(step.ask.headers ?? []), readField(line)] };
    return;
  }
  const space = line.indexOf(' ');
  step.ask = { method: line.slice(0, space), target: line.slice(space + 1) };
}

function readExpectation(step: Step, line: string): void {
  if (line.startsWith('| ')) step.body.push(line.slice(2));
  else if (/^\d{3}$/.test(line)) step.status = Number(line);
  else step.headers.push(readField(line));
}

function readField(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}
