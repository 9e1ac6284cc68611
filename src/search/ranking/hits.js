/*
 * What of a record a search shows. Plain JavaScript: servers and browsers run this file as it is.
 */

import { fold, wordsOf } from './words.js';

/** @typedef {import('./words.js').Query} Query */

/**
 * The words of a query with the terms that stand for them (see `LookedUp` in rank.js).
 * @typedef {readonly { word: import('./words.js').Word, alike: boolean, terms: readonly { term: string, quality: number }[] }[]} Terms
 */

/**
 * A part of a document that a search can find. `name`: `GET /pets`, `Pet`, `Pet.name`. `anchor`: in the page of the
 * document; of a page of a site its route, and the anchor of the section after a `#`. `summary`: what the document says
 * of it in a few words, or ''.
 * @typedef {{ kind: 'operation' | 'schema' | 'property' | 'tag' | 'rule' | 'page', name: string, anchor: string, summary: string }} Item
 */

/** The most properties of one schema that a result names. */
const maxProperties = 3;

/**
 * What to show of a record. `line`: kind, anchor, name, and a summary; of a schema, its properties.
 * A schema that a query means by its properties is shown as those.
 * @param {string} line
 * @param {Terms} words
 * @returns {Item[]}
 */
export function itemsOf(line, words) {
  const [kind, anchor, name] = /** @type {[Item['kind'], string, string]} */ (line.split('\t', 3));
  const rest = line.slice(kind.length + anchor.length + name.length + 3);
  if (kind !== 'schema') return [{ kind, name, anchor, summary: rest }];
  const inName = wordsOf(name).map(({ term }) => term);
  const missing = words.filter(({ terms }) => terms.length > 0 && !terms.some(({ term }) => inName.includes(term)));
  const best = missing.length === 0 ? [] : bestProperties(rest.split('\t'), missing);
  if (best.length === 0) return [{ kind, name, anchor, summary: '' }];
  return best.map((property) => ({
    kind: 'property',
    name: name === '' ? property : `${name}.${property}`,
    anchor,
    summary: '',
  }));
}

/**
 * The properties with the most of the words, at most three.
 * @param {string[]} properties
 * @param {Terms} words
 * @returns {string[]}
 */
function bestProperties(properties, words) {
  const wanted = words.map(({ terms }) => new Set(terms.map(({ term }) => term)));
  const found = properties
    .filter(likely(words))
    .map((property) => {
      const own = wordsOf(property).map(({ term }) => term);
      const fitting = wanted.filter((terms) => own.some((term) => terms.has(term))).length;
      return { property, fitting, others: own.length - fitting };
    })
    .filter(({ fitting }) => fitting > 0)
    .sort((a, b) => b.fitting - a.fitting || a.others - b.others);
  const best = found[0]?.fitting;
  return found.flatMap(({ property, fitting }) => (fitting === best ? [property] : [])).slice(0, maxProperties);
}

/**
 * A quick look at properties, of which a schema may have thousands.
 * @param {Terms} words
 * @returns {(property: string) => boolean}
 */
function likely(words) {
  const wanted = words.flatMap(({ word, alike, terms }) => (alike ? terms : [word]).map(({ term }) => term));
  const starts = wanted.map((term) => term.slice(0, Math.max(2, term.length - 1)));
  return (property) => {
    const folded = fold(property);
    return starts.some((start) => folded.includes(start));
  };
}

/**
 * The query with the words that were taken instead of those that occur nowhere. Null if there are
 * none.
 * @param {Query} query
 * @param {Terms} words
 * @returns {string | null}
 */
export function correct({ org, type }, words) {
  if (!words.some(({ alike, terms }) => alike && nearest(terms) !== null)) return null;
  const written = words.map(({ word, alike, terms }) => (alike ? nearest(terms) : null) ?? word.written);
  return [...written, ...(org === null ? [] : [`org:${org}`]), ...(type === null ? [] : [`type:${type}`])].join(' ');
}

/**
 * The best of the terms that are spelled alike.
 * @param {Terms[number]['terms']} terms
 */
function nearest(terms) {
  const [best = null] = terms.toSorted((a, b) => b.quality - a.quality || (a.term < b.term ? -1 : 1));
  return best?.term ?? null;
}
