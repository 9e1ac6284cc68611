/*
 * The ranking of a search. A score depends on the query and on the texts of one record, never on how
 * often a word occurs elsewhere: order must not tell of documents that the reader may not see. Plain
 * JavaScript: servers and browsers run this file as it is.
 */

import { keyTerm, placeOf } from './words.js';

/** @typedef {import('./words.js').Word} Word */
/** @typedef {import('./words.js').Query} Query */

/**
 * Where a term occurs in one source (a document). `postings` from `from` to `to`: each the number of
 * a record times 256 and its weight there, in twentieths (of a key: in ones). Record 0 is the
 * document itself.
 * @template S
 * @typedef {{ source: S, postings: ArrayLike<number>, from: number, to: number }} Part
 */

/**
 * An index, or the part of it that is loaded. `terms`: those of a place, or where there are too
 * many to look at, `wanted` alone. `parts`: where one occurs, in what the reader may read.
 * @template S
 * @typedef {{ terms: (place: string, wanted: string) => Iterable<string>, parts: (term: string) => Part<S>[] }} Storage
 */

/**
 * A word of a query in an index: the terms that stand for it. `alike`: it occurs nowhere, and they
 * are spelled like it. `methods`: those that it implies.
 * @template S
 * @typedef {{ word: Word, alike: boolean, terms: Matched<S>[], methods: Matched<S>[] }} LookedUp
 */

/**
 * @template S
 * @typedef {{ term: string, quality: number, parts: Part<S>[] }} Matched
 */

/**
 * The records of a source that fit a query, best first.
 * @template S
 * @typedef {{ source: S, score: number, records: Scored[] }} Ranked
 */

/**
 * `isWhole`: it contains every word of the query.
 * @typedef {{ record: number, score: number, isWhole: boolean }} Scored
 */

/** The HTTP methods that a verb in a query implies. */
const methodsOf = new Map(
  Object.entries({
    create: ['post'],
    add: ['post', 'put'],
    new: ['post'],
    send: ['post'],
    list: ['get'],
    show: ['get'],
    read: ['get'],
    fetch: ['get'],
    retrieve: ['get'],
    find: ['get'],
    update: ['patch', 'put'],
    edit: ['patch', 'put'],
    change: ['patch', 'put'],
    modify: ['patch', 'put'],
    replace: ['put'],
    set: ['put'],
    remove: ['delete'],
  }),
);

/** What an implied method adds at most. */
const implied = 2;
/** How much a word of the document's name counts for its records, and from which weight on. */
const context = { share: 0.2, from: 5 };
const bonusOfCall = 40;
const unit = 20;

/**
 * The places that an answer needs, unless a word occurs nowhere.
 * @param {Query} query
 * @returns {string[]}
 */
export function placesOf({ words, key, owner }) {
  const terms = words.flatMap(({ term }) => [term, ...(methodsOf.get(term) ?? [])]);
  const keys = [key, owner].filter(Boolean).map(keyTerm);
  return [...new Set([...terms, ...keys].map(placeOf))];
}

/**
 * The places of terms that are spelled like a word: its first letters as they are, swapped, or with
 * one too many.
 * @param {Word} word
 * @returns {string[]}
 */
export function alikePlaces({ term }) {
  if (term.length < 4 || /\d/.test(term)) return [];
  const [a = '', b = '', c = ''] = term;
  return [...new Set([a + b, b + a, a + c, b + c])];
}

/**
 * @template S
 * @param {Word} word
 * @param {Storage<S>} storage
 * @returns {LookedUp<S>}
 */
export function lookUp(word, storage) {
  const near = termsNear(word, storage);
  const alike = near.length === 0;
  const methods = (methodsOf.get(word.term) ?? []).map((term) => ({ term, quality: 0.5, parts: storage.parts(term) }));
  return { word, alike, terms: alike ? termsAlike(word, storage) : near, methods };
}

/**
 * The word itself, and what starts with it.
 * @template S
 * @param {Word} word
 * @param {Storage<S>} storage
 * @returns {Matched<S>[]}
 */
function termsNear({ term: wanted }, storage) {
  const found = [];
  for (const term of wanted.length < 2 ? [wanted] : storage.terms(placeOf(wanted), wanted)) {
    if (!term.startsWith(wanted)) continue;
    const quality = term === wanted ? 1 : 0.45 + (0.55 * wanted.length) / term.length;
    const parts = storage.parts(term);
    if (parts.length > 0) found.push({ term, quality, parts });
  }
  return found;
}

/**
 * @template S
 * @param {Word} word
 * @param {Storage<S>} storage
 * @returns {Matched<S>[]}
 */
function termsAlike(word, storage) {
  const wanted = word.term;
  const found = [];
  for (const place of alikePlaces(word)) {
    for (const term of storage.terms(place, wanted)) {
      const most = wanted.length < 8 ? 1 : 2;
      if (Math.abs(term.length - wanted.length) > most) continue;
      const far = distance(wanted, term, most);
      if (far > most) continue;
      const parts = storage.parts(term);
      if (parts.length > 0) found.push({ term, quality: far === 1 ? 0.6 : 0.4, parts });
    }
  }
  return found;
}

/**
 * The number of letters to add, remove, change or swap (Damerau), or more than `max`.
 * @param {string} a
 * @param {string} b
 * @param {number} max
 * @returns {number}
 */
export function distance(a, b, max) {
  /** @type {number[]} */
  let before = [];
  /** @type {number[]} */
  let above = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let far = Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) far = Math.min(far, before[j - 2] + 1);
      row.push(far);
      least = Math.min(least, far);
    }
    if (least > max) return max + 1;
    [before, above] = [above, row];
  }
  return above[b.length];
}

/** Best scores of the words by record, reused by all searches. */
let scratch = new Float64Array(1 << 12);

/**
 * The sources that fit the query, with at most `maxRecords` records each. Where some contain every
 * word, of the others only those that are better all the same. The caller puts them in order.
 * @template S
 * @param {Query} query
 * @param {LookedUp<S>[]} words
 * @param {Storage<S>} storage
 * @param {number} maxRecords
 * @returns {Ranked<S>[]}
 */
export function rank(query, words, storage, maxRecords) {
  /** @type {Map<S, { row: number, quality: number, most: number, part: Part<S> }[]>} */
  const bySource = new Map();
  /** @param {number} row @param {number} quality @param {number} most @param {Part<S>[]} parts */
  function collect(row, quality, most, parts) {
    for (const part of parts) {
      const list = bySource.get(part.source);
      if (list === undefined) bySource.set(part.source, [{ row, quality, most, part }]);
      else list.push({ row, quality, most, part });
    }
  }
  for (const [row, { terms, methods }] of words.entries()) {
    for (const { quality, parts } of terms) collect(row, quality / unit, Infinity, parts);
    for (const { quality, parts } of methods) collect(row, quality / unit, implied, parts);
  }
  if (query.key !== '') collect(words.length, 1, Infinity, storage.parts(keyTerm(query.key)));
  if (query.owner !== '') collect(words.length + 1, 1, Infinity, storage.parts(keyTerm(query.owner)));
  const methodRow = words.findIndex(({ word }) => word.written === query.method);
  const ranked = [];
  for (const [source, matches] of bySource) {
    const size = 1 + Math.max(...matches.map(({ part }) => part.postings[part.to - 1] >>> 8));
    const length = (words.length + 2) * size;
    if (scratch.length < length) scratch = new Float64Array(2 * length);
    const best = scratch.fill(0, 0, length);
    for (const { row, quality, most, part } of matches) {
      for (let at = part.from; at < part.to; at++) {
        const posting = part.postings[at];
        const cell = row * size + (posting >>> 8);
        const value = Math.min(most, (posting & 255) * quality);
        if (value > best[cell]) best[cell] = value;
      }
    }
    const records = scoreRecords(best, size, words.length, methodRow, maxRecords);
    ranked.push({ source, records });
  }
  const whole = ranked.flatMap(({ records }) => records.filter(({ isWhole }) => isWhole).map(({ score }) => score));
  const least = whole.reduce((best, score) => Math.max(best, score), 0);
  return ranked.flatMap(({ source, records: all }) => {
    const records = all.filter(({ isWhole, score }) => isWhole || score >= least);
    return records.length === 0 ? [] : [{ source, score: records[0].score, records }];
  });
}

/**
 * @param {Float64Array} best
 * @param {number} size
 * @param {number} count
 * @param {number} methodRow
 * @param {number} maxRecords
 * @returns {Scored[]}
 */
function scoreRecords(best, size, count, methodRow, maxRecords) {
  /** @type {Scored[]} */
  const records = [];
  const root = Math.sqrt(count);
  for (let record = 0; record < size; record++) {
    let sum = 0;
    let matched = 0;
    for (let row = 0; row < count; row++) {
      const value = best[row * size + record];
      if (value === 0) continue;
      sum += value;
      matched++;
    }
    const key = best[count * size + record];
    if (matched === 0 && key === 0) continue;
    const owner = matched === count ? best[(count + 1) * size + record] : 0;
    if (record > 0 && matched < count) {
      for (let row = 0; row < count; row++) {
        if (best[row * size + record] > 0 || best[row * size] < context.from) continue;
        sum += best[row * size] * context.share;
        matched++;
      }
    }
    const isCall = key === 30 && methodRow >= 0 && best[methodRow * size + record] >= 4;
    const bonus = isCall ? bonusOfCall : Math.max(key, owner);
    const share = matched / count;
    const score = (count === 0 ? 0 : (sum * share * share) / root) + bonus;
    if (records.length === maxRecords && records[maxRecords - 1].score >= score) continue;
    let place = records.length;
    while (place > 0 && records[place - 1].score < score) place--;
    records.splice(place, 0, { record, score, isWhole: key > 0 || matched === count });
    if (records.length > maxRecords) records.pop();
  }
  return records;
}
