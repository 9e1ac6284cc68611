/*
 * An index in small files, for hosts without a server: what a query needs is loaded, and nothing else.
 * Plain JavaScript: the files are written by servers and read by browsers.
 *
 *   index.json               { places, resources }: the names of all places, the number of resources
 *   terms/{place}.json       { term: packed postings }
 *   resources/{n}.json       sixteen resources: { …, chunks }, the first record of each chunk
 *   records/{n}-{c}.json     the lines of a chunk of the nth resource
 */

import { correct, itemsOf } from './hits.js';
import { alikePlaces, lookUp, placesOf, rank } from './rank.js';
import { parseQuery, placeOf } from './words.js';

/** @typedef {import('./hits.js').Item} Item */

/**
 * A resource as results show it.
 * @typedef {{ coordinate: string, type: string, name: string, title: string, description: string, version: string | null, url: string, chunks: number[] }} ShardedResource
 */

/**
 * A hit: the resource, and the part of its document, or null for the document itself.
 * @typedef {{ resource: ShardedResource, item: Item | null }} Hit
 */

export const resourcesPerFile = 16;
const maxPerResource = 8;

/**
 * The name of a place's file: characters but a to z and digits as their codes.
 * @param {string} place
 * @returns {string}
 */
export function fileOfPlace(place) {
  if (place.startsWith('=')) return `key-${place.slice(1)}`;
  return /^[a-z0-9]+$/.test(place)
    ? place
    : `u-${Array.from({ length: place.length }, (_, at) => place.charCodeAt(at).toString(16)).join('-')}`;
}

/**
 * Packs the postings of a term: for each source its number, and by weight the differences of the
 * records' numbers.
 * @param {readonly { source: number, postings: ArrayLike<number>, from: number, to: number }[]} parts
 * @returns {string}
 */
export function packParts(parts) {
  return parts
    .map(({ source, postings, from, to }) => {
      /** @type {Map<number, { last: number, steps: string[] }>} */
      const byWeight = new Map();
      for (let at = from; at < to; at++) {
        const record = postings[at] >>> 8;
        const weight = postings[at] & 255;
        const group = byWeight.get(weight) ?? { last: 0, steps: [] };
        group.steps.push((record - group.last).toString(36));
        group.last = record;
        byWeight.set(weight, group);
      }
      const groups = [...byWeight].map(([weight, { steps }]) => `${weight.toString(36)},${steps.join(',')}`);
      return `${source.toString(36)}:${groups.join(';')}`;
    })
    .join(' ');
}

/**
 * @param {string} packed
 * @returns {{ source: number, postings: number[], from: number, to: number }[]}
 */
export function unpackParts(packed) {
  return packed.split(' ').map((part) => {
    const [source, groups] = /** @type {[string, string]} */ (part.split(':'));
    /** @type {number[]} */
    const postings = [];
    for (const group of groups.split(';')) {
      const [weight, ...steps] = group.split(',').map((number) => parseInt(number, 36));
      let record = 0;
      for (const step of steps) postings.push((record += step) * 256 + weight);
    }
    postings.sort((a, b) => a - b);
    return { source: parseInt(source, 36), postings, from: 0, to: postings.length };
  });
}

/**
 * Opens an index. `load`: reads one of its files, once each.
 * @param {(path: string) => Promise<any>} load
 */
export function openShards(load) {
  /** @type {Map<string, Map<string, string>>} */
  const places = new Map();
  /** @type {Map<string, ReturnType<typeof unpackParts>>} */
  const unpacked = new Map();
  /** @type {Map<string, Promise<any>>} */
  const files = new Map();

  /** @param {string} path */
  function read(path) {
    const reading = files.get(path) ?? load(path);
    files.set(path, reading);
    reading.catch(() => files.delete(path));
    return reading;
  }

  /** @param {string[]} wanted */
  async function loadPlaces(wanted) {
    const { places: known } = await read('index.json');
    await Promise.all(
      wanted.map(async (place) => {
        const file = fileOfPlace(place);
        if (known.includes(file) && !places.has(place))
          places.set(place, new Map(Object.entries(await read(`terms/${file}.json`))));
      }),
    );
  }

  /** @param {number} number @returns {Promise<ShardedResource>} */
  async function resourceAt(number) {
    const file = await read(`resources/${Math.floor(number / resourcesPerFile)}.json`);
    return file[number % resourcesPerFile];
  }

  /** @param {number} number @param {number} record @returns {Promise<string>} */
  async function lineOf(number, record) {
    const { chunks } = await resourceAt(number);
    const chunk = chunks.findLastIndex((first) => first <= record);
    return (await read(`records/${number}-${chunk}.json`))[record - chunks[chunk]];
  }

  /** The sources that a query may find, or null for all. @param {string | null} org @param {string | null} type */
  async function sourcesOf(org, type) {
    if (org === null && type === null) return null;
    const { resources } = await read('index.json');
    const all = await Promise.all(Array.from({ length: resources }, (_, number) => resourceAt(number)));
    const isWanted = (/** @type {ShardedResource} */ each) =>
      (org === null || each.coordinate.startsWith(`@${org}/`)) && (type === null || each.type === type);
    return new Set(all.flatMap((each, number) => (isWanted(each) ? [number] : [])));
  }

  /** @param {Set<number> | null} among @returns {import('./rank.js').Storage<number>} */
  function storageOf(among) {
    return {
      terms: (place) => places.get(place)?.keys() ?? [],
      parts(term) {
        const packed = places.get(placeOf(term))?.get(term);
        if (packed === undefined) return [];
        const parts = unpacked.get(term) ?? unpackParts(packed);
        unpacked.set(term, parts);
        return among === null ? parts : parts.filter(({ source }) => among.has(source));
      },
    };
  }

  return {
    /**
     * The hits of a query, best first, in all resources. `instead`: see `correct`. `hits` loads those
     * from one number to another.
     * @param {string} text
     * @param {{ org?: string | null, type?: string | null }} [within]
     */
    async search(text, { org = null, type = null } = {}) {
      const query = parseQuery(text);
      const among = await sourcesOf(query.org ?? org, query.type ?? type);
      await loadPlaces(placesOf(query));
      const storage = storageOf(among);
      let words = query.words.map((word) => lookUp(word, storage));
      const lost = words.filter(({ alike }) => alike).flatMap(({ word }) => alikePlaces(word));
      if (lost.length > 0) {
        await loadPlaces(lost);
        words = query.words.map((word) => lookUp(word, storage));
      }
      const all = rank(query, words, storage, maxPerResource)
        .flatMap(({ source, records }) => records.map(({ record, score }) => ({ source, record, score })))
        .sort((a, b) => b.score - a.score || a.source - b.source || a.record - b.record);
      return {
        count: all.length,
        instead: correct(query, words),
        /** @param {number} from @param {number} to @returns {Promise<Hit[]>} */
        async hits(from, to) {
          const found = await Promise.all(
            all.slice(from, to).map(async ({ source, record }) => {
              const resource = await resourceAt(source);
              if (record === 0) return [{ resource, item: null }];
              return itemsOf(await lineOf(source, record), words).map((item) => ({ resource, item }));
            }),
          );
          return found.flat();
        },
      };
    },
  };
}
