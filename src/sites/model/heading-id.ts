/** Names headings as GitHub does, so that links to them work there too. */
export interface HeadingIds {
  /** Lower case, hyphens for spaces, only letters, digits, `-` and `_`; a second one gets `-1`. */
  idOf(text: string): string;
}

/** Creates the ids of one page. `reserved`: ids that other parts of the page have. */
export function createHeadingIds(reserved: Iterable<string> = []): HeadingIds {
  const counts = new Map([...reserved].map((id) => [id, 1]));
  return {
    idOf(text) {
      const wanted =
        text
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
          .trim()
          .replaceAll(/\s/gu, '-') || 'section';
      for (let count = counts.get(wanted) ?? 0; ; count++) {
        const id = count === 0 ? wanted : `${wanted}-${count}`;
        counts.set(wanted, count + 1);
        if (count > 0 && counts.has(id)) continue;
        counts.set(id, counts.get(id) ?? 1);
        return id;
      }
    },
  };
}
