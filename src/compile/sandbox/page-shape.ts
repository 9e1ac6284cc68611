import { parseCoordinate } from '../../model/address.ts';
import type {
  Embed,
  PageContent,
  PageFacts,
  PageHeading,
  PageLink,
  RenderedPage,
} from '../../sites/model/source-page.ts';
import { problem } from './report-shape.ts';
import { count, flag, list, record, text, textOrNull, where, invalid } from './shapes.ts';

const facts = record<PageFacts>({
  title: text,
  description: text,
  order: (value) => (value === null || Number.isFinite(value) ? (value as number | null) : invalid),
  hidden: flag,
  headings: list(record<PageHeading>({ id: text, text, level: where(count, (level) => level >= 2 && level <= 6) })),
  links: list(record<PageLink>({ to: textOrNull, anchor: text, written: text, isImage: flag, line: count })),
  embeds: list(
    record<Embed>({
      coordinate: where(text, (written) => parseCoordinate(written) !== null),
      operation: textOrNull,
      line: count,
    }),
  ),
});

const content = record<PageContent>({
  html: list(text),
  markdown: list(text),
  sections: list(record<PageContent['sections'][number]>({ id: text, text })),
});

const page = where(
  record<NonNullable<RenderedPage['page']>>({ facts, content }),
  // One part more than there are embeds between them.
  (read) =>
    read.content.html.length === read.facts.embeds.length + 1 &&
    read.content.markdown.length === read.content.html.length,
);

export const renderedPage = record<RenderedPage>({
  path: text,
  page: (value) => (value === null ? null : page(value)),
  problems: list(problem),
});
