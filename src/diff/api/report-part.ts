import type { Direction } from '../../model/comparison.ts';
import { objectOf, textOf } from '../../render/json-value.ts';
import { addFact, describeText, judge, kebab, type Judgement, type Pointers } from '../report.ts';
import { judgeArrival, judgeSunset } from '../sunset.ts';
import { isSameValue } from '../schema/compare-values.ts';
import { textOfValue } from '../schema/read-schema.ts';
import { memberOf, type Label, type Place } from '../side.ts';
import type { Unit, Walk } from '../walk.ts';

/** Details of a change. Without a direction, it does not concern data. */
export interface PartDetails {
  before?: string | null | undefined;
  after?: string | null | undefined;
  at: Pointers;
  direction?: Direction | null;
  /** As in `Fact`. */
  decidedBy?: (() => readonly unknown[]) | undefined;
}

/** Reports a change of a part of an API other than a schema. */
export function reportPart(
  unit: Unit,
  judgement: Judgement,
  code: string,
  message: string,
  { before = null, after = null, at, direction = null, decidedBy }: PartDetails,
): void {
  const verdict = judge(judgement, direction ?? 'both');
  addFact(unit, { verdict, code, message, before, after, pointers: at, direction, decidedBy });
}

/** Tells of a change: the judgement, its code, the sentence about it, and the values before and after. */
export type Tell = (
  judgement: Judgement,
  code: string,
  says: string,
  before?: string | null,
  after?: string | null,
) => void;

/** Tells of the changes of one part. `code` and `subject` are how codes and sentences begin. */
export function createTell(
  unit: Unit,
  { code, subject, ...where }: Omit<PartDetails, 'before' | 'after'> & { code: string; subject: string },
): Tell {
  return (judgement, name, says, before, after) =>
    reportPart(unit, judgement, `${code}-${name}`, `${subject} ${says}.`, { before, after, ...where });
}

/** Two places that are compared with each other. */
export interface Places {
  before: Place;
  after: Place;
}

export function pointersOf({ before, after }: Places): { before: string; after: string } {
  return { before: before.pointer, after: after.pointer };
}

/** Names two places for people. */
export function setLabel(walk: Walk, { before, after }: Places, label: Label): void {
  walk.before.labels.set(before.pointer, label);
  walk.after.labels.set(after.pointer, label);
}

/** The values of a member as texts, and where they stand. Null: absent. */
export function membersAt(walk: Walk, { before, after }: Places, key: string) {
  const [old, current] = [memberOf(walk.before, before, key), memberOf(walk.after, after, key)];
  return {
    before: old && textOfValue(old.value),
    after: current && textOfValue(current.value),
    at: { before: old?.pointer ?? before.pointer, after: current?.pointer ?? after.pointer },
    /** With all that they refer to. */
    isSame: isSameValue(walk, old?.value ?? null, current?.value ?? null),
  };
}

/** Reports that something must be sent now, or no longer must be. */
export function reportRequired(
  unit: Unit,
  before: { isRequired: boolean; place: Place },
  after: { isRequired: boolean; place: Place },
  { role, subject, direction }: { role: string; subject: string; direction: Direction },
): void {
  if (before.isRequired === after.isRequired) return;
  const [from, to] = after.isRequired ? ['optional', 'required'] : ['required', 'optional'];
  const at = pointersOf({ before: before.place, after: after.place });
  const tell = createTell(unit, { code: `${direction}-${role}-became`, subject, at, direction });
  tell(after.isRequired ? 'narrows' : 'widens', to!, `is ${to}; it was ${from}`, from, to);
}

/** Compares members that are only for people: those named, and extensions. */
export function reportTexts(
  walk: Walk,
  unit: Unit,
  places: Places,
  { subject, role, keys }: { subject: string; role: string; keys: readonly string[] },
): void {
  const extensions = [places.before, places.after]
    .flatMap(({ value }) => Object.keys(objectOf(value)))
    .filter((key) => key.startsWith('x-') && key !== 'x-sunset' && key !== 'x-webhooks');
  for (const key of new Set([...keys, ...extensions])) {
    const stated = membersAt(walk, places, key);
    if (stated.isSame) continue;
    const name = key.startsWith('x-') ? 'extension' : kebab(key);
    const says =
      stated.before === stated.after ? `refers to another ${key}` : describeText(key, stated.before, stated.after);
    reportPart(unit, 'docs', `${role}-${name}-changed`, `${subject} ${says}.`, stated);
  }
}

/** Reports that something is deprecated now, or no longer. */
export function reportDeprecated(walk: Walk, unit: Unit, places: Places, subject: string, code: string): void {
  const { before, after, at } = membersAt(walk, places, 'deprecated');
  const [was, is] = [before === 'true', after === 'true'];
  const [name, says] = is ? ['deprecated', 'is deprecated'] : ['reactivated', 'is no longer deprecated'];
  if (was !== is) createTell(unit, { code, subject, at })('safe', name, says, `${was}`, `${is}`);
}

/** Reports that something new has an announced end that has passed. */
export function reportArrival(walk: Walk, unit: Unit, place: Place, subject: string, role: string): void {
  const judged = judgeArrival(walk, [place.value]);
  const tell = createTell(unit, { code: `${role}-sunset`, subject, at: { before: null, after: place.pointer } });
  if (judged) tell(judged.verdict, judged.name, judged.says, null, textOf(objectOf(place.value)['x-sunset']));
}

/** Reports an announced end (`x-sunset`) that changed. */
export function reportSunset(walk: Walk, unit: Unit, places: Places, subject: string, role: string): void {
  const [before, after] = [places.before, places.after].map(({ value }) => textOf(objectOf(value)['x-sunset']) || null);
  const judged = judgeSunset(walk, before!, after!);
  const tell = createTell(unit, { code: `${role}-sunset`, subject, at: pointersOf(places) });
  if (judged) tell(judged.verdict, judged.name, judged.says, before, after);
}

/** What describes the same in two documents: media types, or statuses. Each may be described by a wider one. */
export interface Described {
  /** Those that describe the same, each pair once. */
  pairs: [was: string, is: string][];
  /** What is no longer described by itself: by a wider one, by narrower ones, or not at all. */
  gone: { key: string; wider: string | null; narrower: string[] }[];
  /** What is described by itself now, and what described it before. */
  added: { key: string; was: string | null }[];
}

/** Pairs what describes the same. `isInstead`: whether narrower ones take the place of one that is gone. */
export function pairDescribed<Value>(
  { spend }: Walk,
  old: ReadonlyMap<string, Value>,
  current: ReadonlyMap<string, Value>,
  describing: (key: string, all: ReadonlyMap<string, Value>) => string | null,
  isInstead: (key: string, narrower: readonly string[]) => boolean = () => true,
): Described {
  const pairs = new Map<string, [string, string]>();
  spend((old.size + current.size) ** 2 / 10);
  for (const key of new Set([...old.keys(), ...current.keys()])) {
    const [was, is] = [describing(key, old), describing(key, current)];
    if (was !== null && is !== null) pairs.set(`${was} ${is}`, [was, is]);
  }
  const instead = new Set<string>();
  const gone = [...old.keys()].flatMap((key) => {
    if (current.has(key)) return [];
    const wider = describing(key, current);
    const all = [...current.keys()].filter((other) => !old.has(other) && describing(other, old) === key);
    const narrower = wider === null && isInstead(key, all) ? all : [];
    for (const other of wider === null ? narrower : [wider]) instead.add(other);
    return [{ key, wider, narrower }];
  });
  const fresh = [...current.keys()].filter((key) => !old.has(key) && !instead.has(key));
  return { pairs: [...pairs.values()], gone, added: fresh.map((key) => ({ key, was: describing(key, old) })) };
}
