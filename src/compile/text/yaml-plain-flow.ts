import { setMember } from './text.ts';
import { count, lineEnd, quoteEnd, startsPlain, type Key, type Node, type Reading } from './yaml-plain-reading.ts';
import { giveUp, plainValue, quotedValue } from './yaml-plain-scalars.ts';
import type { Container } from './yaml-plain-spots.ts';

/** Reads a flow collection, `[…]` or `{…}`. Its lines must be right of a column. */
export function readFlow(reading: Reading, column: number, depth: number, length: number): Node {
  const { text, at: start } = reading;
  count(reading, depth, length);
  const isMap = text.charCodeAt(start) === 123;
  const close = isMap ? 125 : 93;
  const spot: Container = { start, names: isMap ? [] : null, keys: [], spots: [] };
  const members: Record<string, unknown> = {};
  const items: unknown[] = [];
  reading.at++;
  skipInFlow(reading, column);
  if (text.charCodeAt(reading.at) !== close)
    for (;;) {
      const key = isMap ? readFlowKey(reading, column) : null;
      const node = readFlowNode(reading, column, depth + 1, length + (key === null ? 8 : 2 * key.name.length + 1));
      if (key === null) items.push(node.value);
      else {
        if (Object.hasOwn(members, key.name)) giveUp();
        setMember(members, key.name, node.value);
        spot.names!.push(key.name);
        spot.keys.push(key.start);
      }
      spot.spots.push(node.spot);
      skipInFlow(reading, column);
      const code = text.charCodeAt(reading.at);
      if (code === close) break;
      if (code !== 44) giveUp();
      reading.at++;
      skipInFlow(reading, column);
    }
  reading.at++;
  return { value: isMap ? members : items, spot };
}

/** Skips spaces and line breaks. Gives up at comments and at lines that are not right of a column. */
function skipInFlow(reading: Reading, column: number): void {
  const { text } = reading;
  for (let code = text.charCodeAt(reading.at); ; code = text.charCodeAt(reading.at)) {
    if (code === 10) reading.line = reading.at + 1;
    else if (code !== 32) {
      if (code === 35 || Number.isNaN(code) || (reading.at - reading.line <= column && isFirst(reading))) giveUp();
      return;
    }
    reading.at++;
  }
}

/** Whether there are only spaces before this character on its line. */
function isFirst({ text, at, line }: Reading): boolean {
  return text.slice(line, at).trim() === '';
}

function readFlowKey(reading: Reading, column: number): Key {
  const { text, at: start } = reading;
  const code = text.charCodeAt(start);
  let name: string;
  if (code === 34 || code === 39) {
    reading.at = quoteEnd(text, start);
    name = quotedValue(text.slice(start, reading.at));
    if (lineEnd(text, start) < reading.at) giveUp();
  } else {
    name = flowPlain(reading);
    const value = plainValue(name);
    if ((typeof value !== 'string' && String(value) !== name) || name === '<<') giveUp();
  }
  while (text.charCodeAt(reading.at) === 32) reading.at++;
  const next = text.charCodeAt(reading.at + 1);
  const isQuoted = code === 34 || code === 39;
  if (text.charCodeAt(reading.at) !== 58 || (!isQuoted && next !== 32) || reading.at - start > 1000) giveUp();
  reading.at++;
  skipInFlow(reading, column);
  return { name, start };
}

function readFlowNode(reading: Reading, column: number, depth: number, length: number): Node {
  const { text, at: start } = reading;
  const code = text.charCodeAt(start);
  if (code === 91 || code === 123) return readFlow(reading, column, depth, length);
  count(reading, depth, length);
  if (code === 34 || code === 39) {
    reading.at = quoteEnd(text, start);
    const source = text.slice(start, reading.at);
    if (source.includes('\n')) giveUp();
    return { value: quotedValue(source), spot: start };
  }
  return { value: plainValue(flowPlain(reading)), spot: start };
}

/** Reads a plain scalar inside a flow collection, which must end on its line. */
function flowPlain(reading: Reading): string {
  const { text, at: start } = reading;
  if (!startsPlain(text, start) || (/[,[\]{}]/.test(text.charAt(start + 1)) && text.charCodeAt(start) === 45)) giveUp();
  let at = start;
  for (; ; at++) {
    const code = text.charCodeAt(at);
    if (code === 44 || code === 91 || code === 93 || code === 123 || code === 125) break;
    if (code === 58 && /[\s,[\]{}]/.test(text.charAt(at + 1) || ' ')) break;
    if (code === 9 || code === 10 || code === 13 || Number.isNaN(code)) giveUp();
    if (code === 35 && text.charCodeAt(at - 1) === 32) giveUp();
  }
  reading.at = at;
  const source = text.slice(start, at).trimEnd();
  return source === '' ? giveUp() : source;
}
