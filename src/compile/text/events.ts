import {
  boolCoreTag,
  EVENT_ID,
  floatCoreTag,
  getScalarValue,
  intCoreTag,
  NOT_RESOLVED,
  nullCoreTag,
  SCALAR_STYLE,
  strTag,
  type Event,
  type ScalarEvent,
  parseEvents,
  YAMLException,
  type DocumentEvent,
  type PopEvent,
} from 'js-yaml';
import type { CompileLimits } from '../compile.ts';
import { issueOf, type TextIssue } from './text.ts';

const coreTags = [nullCoreTag, boolCoreTag, intCoreTag, floatCoreTag, strTag];

/** The beginnings of plain scalars that may mean something other than text. */
const mayMeanMore = /^(?:[-+.\d~nNtTfF]|$)/;

export type Scalar = string | number | boolean | null;

/** The text of a scalar: what is between its quotes, without escapes and line breaks. */
export const scalarText = getScalarValue;

/** The value of a plain scalar by the core schema (YAML 1.2 §10.3.2). A number beyond a double is infinity. */
export function readPlain(source: string): Scalar {
  if (!mayMeanMore.test(source)) return source;
  for (const tag of coreTags) {
    const value = tag.resolve(source, false, tag.tagName);
    if (value !== NOT_RESOLVED && tag !== strTag) return value;
  }
  const number = /\d/.test(source) ? Number(source) : 0;
  return Math.abs(number) === Infinity ? number : source;
}

/** The value of a scalar with a full tag. Undefined if JSON cannot express it. */
export function readTagged(tagName: string, source: string): Scalar | undefined {
  if (tagName === '!') return source;
  const tag = coreTags.find((each) => each.tagName === tagName);
  const value = tag === undefined ? NOT_RESOLVED : tag.resolve(source, false, tagName);
  return value === NOT_RESOLVED ? undefined : value;
}

/** The offset at which a node is written, after its tag and anchor. Null if nothing is written. */
export function startOf(text: string, event: Event): number | null {
  switch (event.type) {
    case EVENT_ID.MAPPING:
    case EVENT_ID.SEQUENCE:
      return event.start;
    case EVENT_ID.ALIAS:
      return event.anchorStart - 1;
    case EVENT_ID.SCALAR:
      return event.valueStart < 0 ? null : startOfScalar(text, event);
    default:
      return null;
  }
}

function startOfScalar(text: string, { style, valueStart }: ScalarEvent): number {
  if (style === SCALAR_STYLE.PLAIN) return valueStart;
  if (style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED) return valueStart - 1;
  // The lines of a block begin below its "|" or ">".
  const [header = ''] = /[^\r\n]*(?:\r\n?|\n|$)$/.exec(text.slice(Math.max(0, valueStart - 1000), valueStart)) ?? [];
  const indicator = /[|>][-+\d]*[ \t]*(?:#.*)?$/.exec(header.trimEnd());
  return valueStart - header.length + (indicator?.index ?? 0);
}

/** The event of a node, and not of a document or an end. */
export type NodeEvent = Exclude<Event, DocumentEvent | PopEvent>;

/**
 * The events of one YAML or JSON document. A node is named by the index of its first event; the
 * outermost one is 1, after the event of the document.
 */
export interface Tree {
  text: string;
  events: readonly Event[];
  /** By index of a node: the index of the event after it. */
  ends: Uint32Array;
  /** By index of an alias: the index of the node that it stands for. */
  targets: ReadonlyMap<number, number>;
}

type Limits = Pick<CompileLimits, 'depth' | 'nodes' | 'aliases'>;

/**
 * Reads the events of one YAML 1.2 document, which may be JSON. Builds no value. Refuses what is not
 * YAML, a second document, nesting and aliases beyond the limits, far too many nodes, and cycles.
 */
export function readTree(text: string, limits: Limits): Tree | TextIssue {
  const events = readEvents(text, limits);
  return 'rule' in events ? events : linkNodes(text, events, limits.aliases);
}

/** Messages of the library with clearer ones. */
const clearer: ReadonlyMap<string, string> = new Map([
  [
    'unexpected end of the stream within a flow collection',
    'Unexpected end of file: a bracket or brace is not closed.',
  ],
  ['unexpected end of the stream within a double quoted scalar', 'Unexpected end of file inside a string.'],
  ['unexpected end of the stream within a single quoted scalar', 'Unexpected end of file inside a string.'],
  [
    'deficient indentation',
    'This line must be indented more than the key of its value. Or is a bracket or quote above not closed?',
  ],
  [
    'bad indentation of a mapping entry',
    'Expected a key here, or nothing. Indent the keys of a mapping alike, and quote text with ": " or " #".',
  ],
  [
    'can not read a block mapping entry; a multiline key may not be an implicit key',
    'A key must be on one line. Perhaps the line above has no ":" after its key.',
  ],
  [
    'end of the stream or a document separator is expected',
    'Expected the end of the document here. Indent the keys of a mapping alike, and put only one value at the root.',
  ],
]);

/** The library asks for its limits twice for some nodes, and for scalars inside the deepest container. */
const more = { nodes: 1000, depth: 3 };

function readEvents(text: string, { nodes, depth }: Limits): Event[] | TextIssue {
  // The library has no limit for nodes, but looks at the one for depth at each node.
  let left = nodes * 2 + more.nodes;
  const maxDepth = { valueOf: () => (--left < 0 ? 0 : depth + more.depth) } as unknown as number;
  // Spaces before the first bracket would be the least indentation of all lines.
  const outdented = text.replace(/^[ \t\r\n]+(?=[[{])/, (space) => '\n'.repeat(space.length));
  try {
    return parseEvents(outdented, { maxDepth });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const offset = error.mark?.position ?? 0;
    if (left < 0) return issueOf('limit-nodes', tooManyNodes(nodes), offset);
    if (error.reason.startsWith('nesting exceeded')) return issueOf('limit-depth', tooDeep(depth), offset);
    const message = clearer.get(error.reason) ?? `${error.reason.charAt(0).toUpperCase()}${error.reason.slice(1)}.`;
    return issueOf('yaml-syntax', message, offset);
  }
}

/** Finds the end of each node, and the node of each alias in the order of the text (YAML 1.2 §3.2.2.2). */
function linkNodes(text: string, events: readonly Event[], maxAliases: number): Tree | TextIssue {
  const ends = new Uint32Array(events.length);
  const targets = new Map<number, number>();
  const anchors = new Map<string, number>();
  const open: number[] = [];
  for (let index = 0; index < events.length; index++) {
    const event = events[index]!;
    if (event.type === EVENT_ID.POP) {
      ends[open.pop()!] = index + 1;
      continue;
    }
    if (event.type === EVENT_ID.DOCUMENT) {
      if (index > 0) return issueOf('yaml-documents', secondDocument, markerBefore({ text, events }, index));
      open.push(index);
      continue;
    }
    const isAnchored = event.anchorStart >= 0;
    const name = isAnchored ? text.slice(event.anchorStart, event.anchorEnd) : '';
    if (event.type === EVENT_ID.ALIAS) {
      const offset = event.anchorStart - 1;
      const target = anchors.get(name);
      if (target === undefined)
        return issueOf('yaml-alias', `The alias *${name} has no anchor &${name} before it.`, offset);
      if (open.includes(target))
        return issueOf('yaml-alias', `The alias *${name} is inside its own anchor. Cycles are not allowed.`, offset);
      if (targets.size >= maxAliases)
        return issueOf(
          'limit-aliases',
          `The document has more than ${maxAliases} aliases. Replace some with their content.`,
          offset,
        );
      targets.set(index, target);
    } else if (isAnchored) anchors.set(name, index);
    if (event.type === EVENT_ID.SCALAR || event.type === EVENT_ID.ALIAS) ends[index] = index + 1;
    else open.push(index);
  }
  const [, outermost] = events;
  const isEmpty = outermost === undefined || (outermost.type === EVENT_ID.SCALAR && isAbsent(outermost));
  if (isEmpty) return issueOf('yaml-syntax', 'The file has no content, or only comments.', 0);
  return { text, events, ends, targets };
}

const secondDocument =
  'The file contains more than one YAML document; "---" starts a new one. Put each document into its own file.';

/** The offset of the marker after the node before an event. */
function markerBefore({ text, events }: Pick<Tree, 'text' | 'events'>, index: number): number {
  const marker = /^(?:---|\.\.\.)/gm;
  const before = events.slice(0, index).findLast((event) => startOf(text, event) !== null);
  marker.lastIndex = before === undefined ? 0 : startOf(text, before)!;
  return marker.exec(text)?.index ?? 0;
}

/** The message for a document with more nodes than the limit. */
export function tooManyNodes(nodes: number): string {
  return `The document has more than ${nodes} nodes with its aliases expanded.`;
}

/** The message for a document that is nested deeper than the limit. */
export function tooDeep(depth: number): string {
  return `The document is nested deeper than ${depth} levels.`;
}

function isAbsent({ valueStart, anchorStart, tagStart }: ScalarEvent): boolean {
  return valueStart < 0 && anchorStart < 0 && tagStart < 0;
}
