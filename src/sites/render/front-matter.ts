import { parseDocument } from 'yaml';
import { parseCoordinate } from '../../model/address.ts';
import { shorten } from '../../render/plain-text.ts';

/** What a page says about itself. */
export interface FrontMatter {
  title: string | null;
  description: string;
  order: number | null;
  hidden: boolean;
  /** Coordinate of the resource that the page shows. */
  api: string | null;
  /** One operation of it. */
  operation: string | null;
}

/** A page's front matter, what is wrong with it, and where its Markdown begins. */
export interface Read {
  meta: FrontMatter;
  faults: { text: string; line: number }[];
  body: string;
  /** Number of lines before the body. */
  lines: number;
}

const longest = 16_384;
const none: FrontMatter = { title: null, description: '', order: null, hidden: false, api: null, operation: null };

/**
 * Reads the YAML between two lines `---` at the start of a page. Of other languages (`---js`) and
 * without an end, there is none: it is text. Members that sites do not know are passed over.
 */
export function readFrontMatter(text: string): Read {
  const [whole, head] = /^---[ \t]*\n((?:.*\n)*?)---[ \t]*(?:\n|$)/.exec(text.slice(0, longest)) ?? [];
  if (whole === undefined) return { meta: none, faults: [], body: text, lines: 0 };
  const read = { body: text.slice(whole.length), lines: whole.split('\n').length - 1 };
  const document = parseDocument(head!, { uniqueKeys: true, merge: false, schema: 'core' });
  const [error] = document.errors;
  if (error !== undefined) {
    const line = 1 + (error.linePos?.[0].line ?? 1);
    return { ...read, meta: none, faults: [{ text: error.message.split('\n')[0]!, line }] };
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 0 });
  } catch {
    return { ...read, meta: none, faults: [{ text: 'Aliases are not allowed here.', line: 1 }] };
  }
  if (value === null || value === undefined) return { ...read, meta: none, faults: [] };
  if (typeof value !== 'object' || Array.isArray(value))
    return {
      ...read,
      meta: none,
      faults: [{ text: 'It must be names with values, such as title: Payments.', line: 1 }],
    };
  return { ...read, ...membersOf(value as Record<string, unknown>) };
}

function membersOf(value: Record<string, unknown>): Pick<Read, 'meta' | 'faults'> {
  const faults: Read['faults'] = [];
  function take<T>(name: string, is: (member: unknown) => member is T, what: string): T | null {
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    if (member === undefined || member === null) return null;
    if (is(member)) return member;
    faults.push({ text: `${name} must be ${what}.`, line: 1 });
    return null;
  }
  const isText = (member: unknown): member is string => typeof member === 'string';
  const isLine = (member: unknown): member is string | number =>
    typeof member === 'number' || (isText(member) && member.trim() !== '');
  const isNumber = (member: unknown): member is number => Number.isFinite(member);
  const isFlag = (member: unknown): member is boolean => typeof member === 'boolean';
  const isCoordinate = (member: unknown): member is string => isText(member) && parseCoordinate(member) !== null;
  const title = take('title', isLine, 'a text');
  const meta: FrontMatter = {
    title: title === null ? null : shorten(String(title), 200),
    description: shorten(take('description', isText, 'a text') ?? '', 300),
    order: take('order', isNumber, 'a number'),
    hidden: take('hidden', isFlag, 'true or false') ?? false,
    api: take('api', isCoordinate, 'a coordinate such as "@acme/apis/payments"'),
    operation: take('operation', isText, 'an operation such as "GET /payments" or its id'),
  };
  return { meta, faults };
}
