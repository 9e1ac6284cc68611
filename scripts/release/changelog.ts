const unreleased = /^## Unreleased\n(.*?)(?=^## |(?![\s\S]))/ms;

/** A changelog in which what was under `Unreleased` is a version's, and what that is. */
export interface ReleasedChangelog {
  text: string;
  notes: string;
}

/**
 * Gives the part `Unreleased` a version and a date (`2026-11-22`), and leaves an empty one above it (keepachangelog.com). Throws
 * where there is nothing to release.
 */
export function releaseChangelog(text: string, version: string, date: string): ReleasedChangelog {
  const [whole, body] = unreleased.exec(text) ?? [];
  if (whole === undefined || body === undefined) throw new Error('CHANGELOG.md has no part "## Unreleased".');
  const notes = body.trim();
  if (notes === '') throw new Error('CHANGELOG.md says nothing under "## Unreleased". Write what changed.');
  const released = `## Unreleased\n\n## ${version} - ${date}\n\n${notes}\n\n`;
  return { text: `${text.replace(whole, () => released).trimEnd()}\n`, notes };
}
