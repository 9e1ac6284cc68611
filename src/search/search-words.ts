/** A search as somebody typed it. */
export interface Query {
  /** All of it, folded: what a name that is meant exactly looks like. */
  phrase: string;
  /** Its words, folded, each once; words past the eighth are left out. */
  words: string[];
}

const wordsOfQuery = 8;
const wordLength = 64;

/** Without case and accents: `Größe` → `grosse`, `É` → `e`. */
export function fold(text: string): string {
  return withoutAccents(text).toLowerCase().replaceAll('ß', 'ss');
}

function withoutAccents(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  return text.normalize('NFKD').replace(/\p{M}+/gu, '');
}

/** The words that a text is found by: its runs of letters and digits, and the parts of those that are written in camel case. Folded. */
export function* wordsOf(text: string): Generator<string> {
  for (const [run] of withoutAccents(text).matchAll(/[\p{L}\p{N}]+/gu)) {
    yield fold(run.slice(0, wordLength));
    const parts = run.slice(0, wordLength).split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u);
    if (parts.length > 1) yield* parts.map(fold);
  }
}

/** What is searched for. A query's words are taken as they stand: whoever writes `listPets` means that. */
export function parseQuery(text: string): Query {
  const phrase = fold(text.trim()).replace(/\s+/g, ' ');
  const runs = [...phrase.matchAll(/[\p{L}\p{N}]+/gu)].map(([run]) => run.slice(0, wordLength));
  return { phrase, words: [...new Set(runs)].slice(0, wordsOfQuery) };
}
