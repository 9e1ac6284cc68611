/**
 * Integers of documents that a double does not hold, such as the largest one of 64 bits: every digit counts. They are
 * `bigint`, and never one that a `number` holds, so that equal numbers are equal values.
 */
export type Numeric = number | bigint;

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
};

// `JSON.stringify` writes the digits instead of throwing, wherever it is called.
// oxlint-disable-next-line no-extend-native -- the only way to write a bigint's digits
Object.defineProperty(BigInt.prototype, 'toJSON', {
  value(this: bigint): unknown {
    return rawJSON(String(this));
  },
  // Bundles have a copy of this module each.
  configurable: true,
});

/** Whether a value is what `JSON.stringify` gives a replacer for a bigint. */
export function isDigits(value: unknown): boolean {
  return isRawJSON(value);
}

export function isNumeric(value: unknown): value is Numeric {
  return typeof value === 'number' || typeof value === 'bigint';
}

/**
 * Whether a text may have a number that changes when it is read as a double. It counts digits in a loop, since a sandbox
 * tries an expression for them thirty times as long (`--enable-experimental-regexp-engine-on-excessive-backtracks`).
 */
function mayChange(json: string): boolean {
  for (let at = 0, digits = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    digits = code === 46 || (code >= 48 && code <= 57) ? digits + 1 : 0;
    if (digits === 16) return true;
  }
  return /[eE][-+]?\d{3}/.test(json);
}

/** Parses JSON without losing a digit of an integer. `note` is told each number of a text that may have such integers, in order. */
export function parseExactly(
  json: string,
  note?: (source: string, value: number, exact: bigint | null) => void,
): unknown {
  if (!mayChange(json)) return JSON.parse(json);
  const revive: Reviver = (_, value, { source = '' }) => {
    if (typeof value !== 'number') return value;
    const exact = exactInteger(source, value);
    note?.(source, value, exact);
    return exact ?? value;
  };
  return JSON.parse(json, revive as Parameters<typeof JSON.parse>[1]);
}

/** A value as most parsers read it. It is itself if it has no integers that a double does not hold. */
export function toDoubles(value: unknown): unknown {
  return hasExact(value, new Set()) ? JSON.parse(JSON.stringify(value)) : value;
}

function hasExact(value: unknown, seen: Set<object>): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return typeof value === 'bigint';
  seen.add(value);
  return Object.values(value).some((member) => hasExact(member, seen));
}

/** The integer that a number is written as, where the double that it is read as is written otherwise. Else null. */
export function exactInteger(written: string, value: number): bigint | null {
  if (Number.isSafeInteger(value) || !Number.isFinite(value)) return null;
  if (/^[-+]?0[box]/.test(written)) {
    const size = BigInt(written.replace(/^[-+]/, ''));
    return exactInteger(`${written.startsWith('-') ? '-' : ''}${size}`, value);
  }
  const given = readDecimal(written);
  if (given === null || given.power < 0 || isSame(given, readDecimal(String(value)))) return null;
  return BigInt(`${given.sign}${given.digits}${'0'.repeat(given.power)}`);
}

/** Whether a number with a fraction has digits that a double does not have, also where it is written with more than it needs. */
export function losesDigits(written: string, value: number): boolean {
  const given = readDecimal(written);
  if (given === null || given.power >= 0 || isSame(given, readDecimal(String(value)))) return false;
  const { length } = given.digits;
  return length > 100 || !isSame(given, readDecimal(value.toPrecision(length)));
}

interface Decimal {
  sign: string;
  /** Without zeros at either end. */
  digits: string;
  /** The power of ten of the last digit. */
  power: number;
}

function readDecimal(written: string): Decimal | null {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^([-+]?)(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?$/.exec(written) ?? [];
  if (sign === undefined) return null;
  const all = whole + fraction;
  let [start, end] = [0, all.length];
  while (all[start] === '0') start++;
  while (end > start && all[end - 1] === '0') end--;
  if (start === end) return { sign: '', digits: '0', power: 0 };
  const power = Number(exponent) - fraction.length + all.length - end;
  return { sign: sign === '-' ? '-' : '', digits: all.slice(start, end), power };
}

function isSame(one: Decimal, other: Decimal | null): boolean {
  return one.sign === other?.sign && one.digits === other.digits && one.power === other.power;
}

/** Numbers as integers of one power of ten: decimals as they are written, so that 0.3 is three times 0.1. */
function scaled(numbers: readonly Numeric[]): { integers: bigint[]; power: number } {
  const all = numbers.map((number) => readDecimal(String(number))!);
  const power = Math.min(...all.map((one) => one.power));
  return { integers: all.map((one) => BigInt(one.sign + one.digits) * 10n ** BigInt(one.power - power)), power };
}

/** The least number that is a multiple of each of some numbers above zero. */
export function commonMultiple(numbers: readonly Numeric[]): Numeric {
  if (numbers.length === 1) return numbers[0]!;
  const { integers, power } = scaled(numbers);
  const divisor = (one: bigint, other: bigint): bigint => (other === 0n ? one : divisor(other, one % other));
  const common = integers.reduce((one, other) => (one / divisor(one, other)) * other);
  return power < 0 ? Number(`${common}e${power}`) : narrow(common * 10n ** BigInt(power));
}

/** Whether a number is a multiple of another one above zero. */
export function isMultipleOf(number: Numeric, of: Numeric): boolean {
  const [one = 0n, other = 1n] = scaled([number, of]).integers;
  return one % other === 0n;
}

/** The sum. A step with a fraction is taken away from zero where a double has no such numbers any more. */
export function plus(one: Numeric, step: number): Numeric {
  if (typeof one === 'number') return one + step;
  return narrow(one + BigInt(Math.sign(step) * Math.ceil(Math.abs(step))));
}

/** The nearest multiple of a step that is not above a number, or not below it. Beside a `bigint`, steps with a fraction are none. */
export function nearestMultiple(of: Numeric, step: number, isBelow: boolean): Numeric {
  if (typeof of === 'number') return (isBelow ? Math.floor(of / step) : Math.ceil(of / step)) * step;
  if (!Number.isInteger(step)) return of;
  const size = BigInt(step);
  const above = ((of % size) + size) % size;
  return narrow(of - above + (isBelow || above === 0n ? 0n : size));
}

/** An integer as a number, if that holds it. */
function narrow(integer: bigint): Numeric {
  const value = Number(integer);
  return Number.isSafeInteger(value) ? value : (exactInteger(String(integer), value) ?? value);
}
