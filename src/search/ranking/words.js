/*
 * The words of texts and of queries. Plain JavaScript: servers and browsers run this file as it is.
 */

/**
 * A word of a query. `term`: its form in the index. `written`: as it was written, folded.
 * @typedef {{ term: string, written: string }} Word
 */

/**
 * A parsed query. `words`: its distinct words, at most eight. `method`: the HTTP method before a
 * path. `key`: the whole name that it may be, folded, or ''. `owner`: of `Pet.name`, the schema, or
 * ''. `org`, `type`: from `org:` and `type:`.
 * @typedef {{ text: string, words: Word[], method: string | null, key: string, owner: string, org: string | null, type: string | null }} Query
 */

const wordsOfQuery = 8;
const wordLength = 64;
const resourceTypes = ['apis', 'schemas', 'rulesets'];
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'];

/** Words that say nothing about what is meant. They are not indexed. */
const fillers = new Set('a an and are as at by for from how i in is it my of on or the to via with'.split(' '));

const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+/gu;
const runs = /[\p{L}\p{N}]+/gu;
const isAscii = /^[\x00-\x7f]*$/;
/** The parts of runs, in ASCII alone: the same as the runs split at changes of case, at a fifth of the cost. */
const asciiParts = /[A-Z]+(?=[A-Z][a-z])|[A-Z]*[a-z0-9]+|[A-Z]+/g;
const caseChanges = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

/**
 * The text without case, accents and forms of compatibility: `Größe` → `grosse`, `ＡＰＩ` → `api`.
 * @param {string} text
 * @returns {string}
 */
export function fold(text) {
  return plain(text).toLowerCase().replaceAll('ß', 'ss');
}

/** @param {string} text */
function plain(text) {
  if (isAscii.test(text)) return text;
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .normalize('NFKC');
}

/**
 * The words of a text in order, without fillers: `listPetsByID` → list, pet, id. Pairs of characters
 * stand for Chinese, Japanese and Korean, which put no spaces between words.
 * @param {string} text
 * @returns {Word[]}
 */
export function wordsOf(text) {
  return partsOf(text)
    .filter((written) => !fillers.has(written))
    .map((written) => ({ term: stem(written), written }));
}

/**
 * What `wordsOf` splits at changes of case, in one piece: `PagerDuty` → pagerduty. People write names
 * of products without them.
 * @param {string} text
 * @returns {string[]}
 */
export function compoundsOf(text) {
  if (!/\p{Ll}\p{Lu}/u.test(text)) return [];
  const joined = (plain(text).match(runs) ?? []).filter((run) => caseChanges.test(run));
  return joined.map((run) => stem(fold(run.slice(0, wordLength))));
}

/** @param {string} text */
function partsOf(text) {
  if (isAscii.test(text)) return (text.match(asciiParts) ?? []).map((part) => part.slice(0, wordLength).toLowerCase());
  const parts = (plain(text).match(runs) ?? []).flatMap((run) => run.slice(0, wordLength).split(caseChanges));
  return parts.flatMap((part) => withPairs(fold(part)));
}

/** @param {string} word */
function withPairs(word) {
  if (isAscii.test(word)) return [word];
  const rest = word.split(ideographs).filter(Boolean);
  const pairs = [...word.matchAll(ideographs)].flatMap(([run]) => {
    const characters = [...run];
    return characters.length < 2 ? [run] : characters.slice(1).map((second, index) => `${characters[index]}${second}`);
  });
  return [...rest, ...pairs];
}

/**
 * The singular of an English word, roughly: `issues` → `issue`, `repositories` → `repository`.
 * @param {string} word
 * @returns {string}
 */
export function stem(word) {
  if (word.length < 4 || !word.endsWith('s') || /(?:ss|us|is)$/.test(word)) return word;
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.slice(0, /(?:ss|x|zz|sh|[^aeiou]ch)es$/.test(word) ? -2 : -1);
}

/**
 * A whole name as people may type it: `/Pets/` → `/pets`.
 * @param {string} text
 * @returns {string}
 */
export function keyOf(text) {
  const key = fold(text.trim()).replace(/\s+/g, ' ');
  return key.length > 1 && key.startsWith('/') ? key.replace(/\/+$/, '') : key;
}

/**
 * The term of a whole name in the index: `=` and a hash, so that names take little room. Two names
 * may share one.
 * @param {string} key
 * @returns {string}
 */
export function keyTerm(key) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return `=${(hash & 255).toString(16).padStart(2, '0')}${(hash >>> 8).toString(36)}`;
}

/**
 * Where a term is kept: its first two characters, or the first two digits of its hash.
 * @param {string} term
 * @returns {string}
 */
export function placeOf(term) {
  return term.slice(0, term.startsWith('=') ? 3 : 2);
}

/**
 * @param {string} text
 * @returns {Query}
 */
export function parseQuery(text) {
  /** @type {string | null} */
  let org = null;
  /** @type {string | null} */
  let type = null;
  const rest = text
    .replace(/(^|\s)org:@?([a-z0-9-]+)(?=\s|$)/gi, (_, before, name) => ((org = name.toLowerCase()), before))
    .replace(/(^|\s)type:([a-z]+)(?=\s|$)/gi, (whole, before, name) => {
      const named = resourceTypes.find((each) => each === name.toLowerCase() || each === `${name.toLowerCase()}s`);
      if (named === undefined) return whole;
      type = named;
      return before;
    })
    .trim();
  const [, method = null, path] = /^([a-z]+)\s+(\/.*)$/is.exec(rest) ?? [];
  const isCall = method !== null && methods.includes(method.toLowerCase());
  /** @type {Map<string, Word>} */
  const words = new Map();
  for (const word of wordsOf(rest)) if (words.size < wordsOfQuery && !words.has(word.term)) words.set(word.term, word);
  return {
    text: rest,
    words: [...words.values()],
    method: isCall ? method.toLowerCase() : null,
    key: keyOf(isCall ? /** @type {string} */ (path) : rest),
    owner: keyOf(/^([^\s/.]+)\.[^\s/]+$/.exec(rest)?.[1] ?? ''),
    org,
    type,
  };
}
