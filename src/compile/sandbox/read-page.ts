import { parseCoordinate } from '../../model/address.ts';
import type { Embed, PageFacts, PageHeading, PageLink, RenderedPage } from '../../sites/model/source-page.ts';
import { isCount, isList, isRecord, isText, isTextOrNull, readAll } from './checked-values.ts';
import { readProblem } from './read-problem.ts';

/** Reads a page that a sandbox rendered. Null for anything else. */
export function readPage(value: unknown): RenderedPage | null {
  if (!isRecord(value) || !isText(value['path'])) return null;
  const problems = readAll(value['problems'], readProblem);
  if (problems === null) return null;
  if (value['page'] === null) return { path: value['path'], page: null, problems };
  if (!isRecord(value['page']) || !isRecord(value['page']['content'])) return null;
  const facts = readFacts(value['page']['facts']);
  const { html, markdown, sections } = value['page']['content'];
  const texts = readAll(sections, readSection);
  if (facts === null || texts === null || !isList(html, isText) || !isList(markdown, isText)) return null;
  // One part more than there are embeds between them.
  if (html.length !== facts.embeds.length + 1 || markdown.length !== html.length) return null;
  const content = { html: [...html], markdown: [...markdown], sections: texts };
  return { path: value['path'], page: { facts, content }, problems };
}

function readFacts(value: unknown): PageFacts | null {
  if (!isRecord(value)) return null;
  const { title, description, order, hidden } = value;
  const headings = readAll(value['headings'], readHeading);
  const links = readAll(value['links'], readLink);
  const embeds = readAll(value['embeds'], readEmbed);
  if (headings === null || links === null || embeds === null) return null;
  if (!isText(title) || !isText(description) || typeof hidden !== 'boolean') return null;
  if (!(order === null || (typeof order === 'number' && Number.isFinite(order)))) return null;
  return { title, description, order, hidden, headings, links, embeds };
}

function readHeading(value: unknown): PageHeading | null {
  if (!isRecord(value)) return null;
  const { id, text, level } = value;
  return isText(id) && isText(text) && isCount(level) && level >= 2 && level <= 6 ? { id, text, level } : null;
}

function readLink(value: unknown): PageLink | null {
  if (!isRecord(value)) return null;
  const { to, anchor, written, isImage, line } = value;
  if (!isTextOrNull(to) || !isText(anchor) || !isText(written) || typeof isImage !== 'boolean' || !isCount(line))
    return null;
  return { to, anchor, written, isImage, line };
}

function readEmbed(value: unknown): Embed | null {
  if (!isRecord(value)) return null;
  const { coordinate, operation, line } = value;
  if (!isText(coordinate) || parseCoordinate(coordinate) === null || !isTextOrNull(operation) || !isCount(line))
    return null;
  return { coordinate, operation, line };
}

function readSection(value: unknown): { id: string; text: string } | null {
  if (!isRecord(value) || !isText(value['id']) || !isText(value['text'])) return null;
  return { id: value['id'], text: value['text'] };
}
