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
} from 'js-yaml';

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
