import { setMember } from './text.ts';
import { readFlow } from './yaml-plain-flow.ts';
import {
  count,
  isSpace,
  lineEnd,
  quoteEnd,
  startsPlain,
  type Key,
  type Node,
  type Reading,
} from './yaml-plain-reading.ts';
import { blockValue, foldedValue, giveUp, needsLibrary, plainValue, quotedValue } from './yaml-plain-scalars.ts';
import { findSpot, type Container } from './yaml-plain-spots.ts';
import { controlCharacter } from './yaml-text.ts';

/** A document's value, and where its nodes are. */
export interface PlainYaml {
  value: unknown;
  find(pointer: string): { key: number; value: number };
}

/**
 * Reads YAML as most people write it: block mappings and sequences, scalars of every style, and flow
 * collections. Null for all else, such as anchors, tags, tabs, duplicate keys, anything wrong and
 * anything over a limit: then the library reads the text and says what is wrong. The library accepts
 * what this accepts, with the same value and the same offsets, and needs eight times as long.
 */
export function readPlainYaml(text: string, limits: Reading['limits']): PlainYaml | null {
  if (controlCharacter.test(text)) return null;
  const head = /(?: *(?:#[^\n]*)?\n)*---\n/y.exec(text)?.[0].length ?? 0;
  const reading: Reading = { text, limits, at: head, line: head, nodes: 0 };
  try {
    const indent = toContent(reading);
    if (indent < 0) return null;
    const { value, spot } = readCollection(reading, indent, 1, 0) ?? giveUp();
    return reading.at < text.length ? null : { value, find: (pointer) => findSpot(spot, pointer) };
  } catch (error) {
    if (error === needsLibrary) return null;
    throw error;
  }
}

/** Goes to the next line with content, and returns its indentation; -1 at the end of the text. */
function toContent(reading: Reading): number {
  const { text } = reading;
  for (;;) {
    let { at } = reading;
    while (text.charCodeAt(at) === 32) at++;
    const code = text.charCodeAt(at);
    if (code === 10 || code === 35) {
      const end = code === 10 ? at : text.indexOf('\n', at);
      reading.line = reading.at = end < 0 ? text.length : end + 1;
      continue;
    }
    const indent = at - reading.at;
    reading.at = at;
    if (at >= text.length) return -1;
    if (code === 9 || code === 13) giveUp();
    if (indent === 0 && /(?:---|\.\.\.)(?:\s|$)/y.test(text.slice(at, at + 4))) giveUp();
    return indent;
  }
}

/** Expects nothing more on this line but a comment, and goes to the next content. */
function endLine(reading: Reading): number {
  const { text } = reading;
  let { at } = reading;
  while (text.charCodeAt(at) === 32) at++;
  const code = text.charCodeAt(at);
  if (code === 35 && text.charCodeAt(at - 1) === 32) at = lineEnd(text, at);
  else if (at < text.length && code !== 10) giveUp();
  reading.line = reading.at = Math.min(at + 1, text.length);
  return toContent(reading);
}

/** Reads the block collection that starts here, at a column; null if it is a scalar. */
function readCollection(reading: Reading, column: number, depth: number, length: number): Node | null {
  const { text, at } = reading;
  if (text.charCodeAt(at) === 45 && isSpace(text.charCodeAt(at + 1)))
    return readSequence(reading, column, depth, length);
  const key = readKey(reading);
  return key === null ? null : readMapping(reading, key, column, depth, length);
}

function readSequence(reading: Reading, column: number, depth: number, length: number): Node {
  count(reading, depth, length);
  const { text } = reading;
  const value: unknown[] = [];
  const spot: Container = { start: reading.at, names: null, keys: [], spots: [] };
  for (let indent = column; indent === column;) {
    if (text.charCodeAt(reading.at) !== 45 || !isSpace(text.charCodeAt(reading.at + 1))) break;
    reading.at++;
    const { node, next } = readItem(reading, column, depth + 1, length + 8);
    value.push(node.value);
    spot.spots.push(node.spot);
    indent = next;
    if (indent > column) giveUp();
  }
  return { value, spot };
}

/** A node after `- `, and the indentation of the line after it. */
function readItem(reading: Reading, column: number, depth: number, length: number): { node: Node; next: number } {
  const { text } = reading;
  while (text.charCodeAt(reading.at) === 32) reading.at++;
  const code = text.charCodeAt(reading.at);
  if (reading.at < text.length && code !== 10 && code !== 35) {
    const node = readCollection(reading, reading.at - reading.line, depth, length);
    if (node !== null) return { node, next: columnHere(reading) };
  }
  return readValue(reading, column, column + 1, depth, length);
}

/** The column of the content that was gone to; -1 at the end. */
function columnHere({ text, at, line }: Reading): number {
  return at >= text.length ? -1 : at - line;
}

/** Reads a key with its colon. Null, and nothing read, if there is none. */
function readKey(reading: Reading): Key | null {
  const { text, at: start } = reading;
  const code = text.charCodeAt(start);
  let end: number;
  let colon: number;
  let name: string;
  if (code === 34 || code === 39) {
    end = quoteEnd(text, start);
    colon = end;
    while (text.charCodeAt(colon) === 32) colon++;
    if (text.charCodeAt(colon) !== 58) return null;
    if (lineEnd(text, start) < end) giveUp();
    name = quotedValue(text.slice(start, end));
  } else {
    if (!startsPlain(text, start)) return null;
    colon = plainEnd(text, start);
    if (text.charCodeAt(colon) !== 58) return null;
    end = colon;
    while (text.charCodeAt(end - 1) === 32) end--;
    name = text.slice(start, end);
    const value = plainValue(name);
    if ((typeof value !== 'string' && String(value) !== name) || name === '<<' || name.includes('\t')) giveUp();
  }
  if (!isSpace(text.charCodeAt(colon + 1)) || end - start > 1000) giveUp();
  reading.at = colon + 1;
  return { name, start };
}

function readMapping(reading: Reading, first: Key, column: number, depth: number, length: number): Node {
  count(reading, depth, length);
  const value: Record<string, unknown> = {};
  const names: string[] = [];
  const spot: Container = { start: first.start, names, keys: [], spots: [] };
  for (let key = first; ; key = readKey(reading) ?? giveUp()) {
    const { name, start } = key;
    if (Object.hasOwn(value, name)) giveUp();
    const { node, next } = readValue(reading, column, column, depth + 1, length + 2 * name.length + 1);
    setMember(value, name, node.value);
    names.push(name);
    spot.keys.push(start);
    spot.spots.push(node.spot);
    if (next > column) giveUp();
    if (next < column) return { value, spot };
  }
}

/**
 * Reads what follows `key:` or `-`, on this line or below. `column` is that of the mapping or
 * sequence, `sequence` the least one of a sequence in it.
 */
function readValue(
  reading: Reading,
  column: number,
  sequence: number,
  depth: number,
  length: number,
): { node: Node; next: number } {
  const { text } = reading;
  while (text.charCodeAt(reading.at) === 32) reading.at++;
  const code = text.charCodeAt(reading.at);
  if (reading.at < text.length && code !== 10 && code !== 35) return readInline(reading, column, depth, length);
  const end = reading.at;
  const indent = endLine(reading);
  if (indent > column || (indent === column && sequence === column && startsItem(reading))) {
    const node = readCollection(reading, indent, depth, length);
    return node === null ? readInline(reading, column, depth, length) : { node, next: columnHere(reading) };
  }
  count(reading, depth, length);
  return { node: { value: null, spot: end }, next: indent };
}

function startsItem({ text, at }: Reading): boolean {
  return text.charCodeAt(at) === 45 && isSpace(text.charCodeAt(at + 1));
}

/** Reads a scalar or a flow collection, to the end of its line. */
function readInline(reading: Reading, column: number, depth: number, length: number): { node: Node; next: number } {
  const { text, at: start } = reading;
  const code = text.charCodeAt(start);
  if (code === 91 || code === 123) {
    const node = readFlow(reading, column, depth, length);
    return { node, next: endLine(reading) };
  }
  count(reading, depth, length);
  if (code === 34 || code === 39) {
    reading.at = quoteEnd(text, start);
    const source = text.slice(start, reading.at);
    mustBeIndented(source, column);
    return { node: { value: quotedValue(source), spot: start }, next: endLine(reading) };
  }
  if (code === 124 || code === 62) return readBlockScalar(reading, column);
  return readPlain(reading, column);
}

/** Gives up unless all lines but the first are blank or right of a column. */
function mustBeIndented(source: string, column: number): void {
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) {
    let end = at + 1;
    while (source.charCodeAt(end) === 32) end++;
    const code = source.charCodeAt(end);
    if (code === 9 || code === 13 || (code !== 10 && end - at - 1 <= column)) giveUp();
  }
}

/** Where the plain text of a line ends: at `: `, at a comment, or at the end of the line. */
function plainEnd(text: string, start: number): number {
  for (let at = start; ; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || Number.isNaN(code)) return at;
    if (code === 58 && isSpace(text.charCodeAt(at + 1))) return at;
    if (code === 35 && text.charCodeAt(at - 1) === 32) return at;
  }
}

/** Reads a plain scalar, which may go on below. */
function readPlain(reading: Reading, column: number): { node: Node; next: number } {
  const { text, at: start } = reading;
  if (!startsPlain(text, start)) giveUp();
  let end = start;
  for (;;) {
    const stop = plainEnd(text, reading.at);
    if (text.charCodeAt(stop) === 58) giveUp();
    end = stop;
    while (text.charCodeAt(end - 1) === 32) end--;
    const isCommented = text.charCodeAt(stop) === 35;
    reading.at = isCommented ? lineEnd(text, stop) : stop;
    const before = reading.at;
    const next = endLine(reading);
    if (next <= column) {
      const source = text.slice(start, end);
      if (/[\t\r]/.test(source)) giveUp();
      return { node: { value: source.includes('\n') ? foldedValue(source) : plainValue(source), spot: start }, next };
    }
    // A comment ends a scalar, so that text below it is wrong.
    if (isCommented || /\n *#/.test(text.slice(before, reading.at))) giveUp();
  }
}

/** Reads `|` or `>` and the lines below. */
function readBlockScalar(reading: Reading, column: number): { node: Node; next: number } {
  const { text, at: start } = reading;
  const from = lineEnd(text, start) + 1;
  const header = text.slice(start, from - 1).trimEnd();
  if (!/^[|>][-+]?$/.test(header) || text.charCodeAt(from - 2) === 9 || from > text.length) giveUp();
  let inside = -1;
  let end = from;
  for (let line = from; line < text.length;) {
    let at = line;
    while (text.charCodeAt(at) === 32) at++;
    const stop = lineEnd(text, at);
    if (at < stop) {
      const indent = at - line;
      if (text.charCodeAt(at) === 13 || (inside < 0 && text.charCodeAt(at) === 9)) giveUp();
      if (indent <= column) break;
      if (inside >= 0 && indent < inside) giveUp();
      if (inside < 0) inside = indent;
    } else if (inside < 0 && at > line) giveUp();
    line = end = Math.min(stop + 1, text.length);
  }
  if (inside < 0) giveUp();
  const value = blockValue(header, text.slice(from, end), column);
  reading.line = reading.at = end;
  return { node: { value, spot: start }, next: toContent(reading) };
}
