/** A parsed search query. */
export interface Query {
  /** The whole query, folded. Compared with whole names. */
  phrase: string;
  /** Its distinct words, folded. At most eight. */
  words: string[];
}

const wordsOfQuery = 8;
const wordLength = 64;

/** The text without case and accents: `Größe` → `grosse`, `É` → `e`. */
export function fold(text: string): string {
  return withoutAccents(text).toLowerCase().replaceAll('ß', 'ss');
}

function withoutAccents(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  return text.normalize('NFKD').replace(/\p{M}+/gu, '');
}

/**
 * The words of a text, folded: its runs of letters and digits, and the parts of camel-case runs.
 */
export function* wordsOf(text: string): Generator<string> {
  for (const [run] of withoutAccents(text).matchAll(/[\p{L}\p{N}]+/gu)) {
    yield fold(run.slice(0, wordLength));
    const parts = run.slice(0, wordLength).split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u);
    if (parts.length > 1) yield* parts.map(fold);
  }
}

/** Parses a query. Its words are not split: someone who types `listPets` means exactly that. */
export function parseQuery(text: string): Query {
  const phrase = fold(text.trim()).replace(/\s+/g, ' ');
  const runs = [...phrase.matchAll(/[\p{L}\p{N}]+/gu)].map(([run]) => run.slice(0, wordLength));
  return { phrase, words: [...new Set(runs)].slice(0, wordsOfQuery) };
}
