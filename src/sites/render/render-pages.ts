import { oneLine } from '../../model/escape.ts';
import { problemAtFile, type Problem } from '../../model/problem.ts';
import {
  createHeadingId,
  type Embed,
  type PageContent,
  type PageFacts,
  type RenderedPage,
  type SourcePage,
} from '../model/source-page.ts';
import { wordsOf } from '../model/page-path.ts';
import { type EmbedLine, programs } from './markup.ts';
import {
  createSiteMarkdown,
  maxNesting,
  referenceIds,
  plainTextOf,
  type Highlight,
  type PageState,
} from './site-markdown.ts';
import { parseDocument } from 'yaml';
import { parseCoordinate } from '../../model/address.ts';
import { isObject, own, type JsonObject } from '../../model/json.ts';

const markdown = createSiteMarkdown();
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Characters of a page's text that search reads. */
const maxText = 40_000;

/** Limits of one page. Each item costs work whenever the page is shown, searched or checked. */
const maxOf = { headings: 2000, links: 10_000, embeds: 50 };

/**
 * Renders the pages of a site. Pure: a page depends on its path and bytes alone. No page makes it
 * throw; what is wrong with one is a problem.
 */
export function renderPages(pages: readonly SourcePage[], highlight: Highlight | null): RenderedPage[] {
  return pages.map((page) => renderPage(page, highlight));
}

type Tokens = ReturnType<typeof markdown.parse>;

function renderPage({ path, bytes }: SourcePage, highlight: Highlight | null): RenderedPage {
  let text: string;
  try {
    text = decoder.decode(bytes).replaceAll(/\r\n?/g, '\n');
  } catch {
    return { path, page: null, problems: [problemAtFile('encoding', path, 'The page is not UTF-8.')] };
  }
  const { meta, faults, body, lines } = readFrontMatter(text);
  const problems: Problem[] = [];
  const note = (line: number, rule: string, message: string, severity: Problem['severity'] = 'warning') =>
    void problems.push({ ...problemAtFile(rule, path, message, severity), line });
  for (const fault of faults) note(fault.line, 'site-front-matter', `Front matter: ${fault.text}`, 'error');
  const page: PageState = {
    path,
    before: lines,
    headings: [],
    links: [],
    unsafe: [],
    deep: [],
    unknown: new Map(),
    headingId: createHeadingId(meta.api !== null || /^::reference /m.test(body) ? referenceIds : []),
    highlight,
  };
  const tokens = markdown.parse(body, page);
  const title = takeTitle(tokens, page, meta);
  for (const { written, line } of page.unsafe)
    note(line, 'site-link-unsafe', `${written} cannot be a link. It is shown as text.`);
  for (const [markup, line] of page.unknown) note(line, 'site-markup-unknown', unknownMarkup(markup));
  const [deep] = page.deep;
  if (deep !== undefined) note(deep, 'site-nesting', tooDeep);
  for (const line of linesLikeEmbeds(tokens)) note(lines + line + 1, 'site-embed-unclear', unclearEmbed);
  const { parts, texts, embeds } = splitAtEmbeds(tokens, body, lines);
  if (meta.api !== null) {
    embeds.push({ coordinate: meta.api, operation: meta.operation, line: 1 });
    parts.push([]);
    texts.push('');
  }
  const whole = embeds.filter(({ operation }) => operation === null);
  for (const { line } of whole.slice(1)) note(line, 'site-reference-twice', secondReference, 'error');
  const facts: PageFacts = {
    title,
    description: meta.description,
    order: meta.order,
    hidden: meta.hidden,
    headings: page.headings,
    links: page.links,
    embeds,
  };
  for (const [what, most] of Object.entries(maxOf)) {
    const { length } = facts[what as keyof typeof maxOf];
    if (length <= most) continue;
    const message = `The page has ${length} ${what}; the limit is ${most}. Split the page.`;
    return { path, page: null, problems: [problemAtFile('site-page-limit', path, message)] };
  }
  const content: PageContent = {
    html: parts.map((part) => markdown.renderer.render(part, markdown.options, page)),
    markdown: texts,
    sections: sectionsOf(tokens),
  };
  return { path, page: { facts, content }, problems };
}

function unknownMarkup(markup: string): string {
  if (markup.startsWith(':'))
    return `${markup} is not a kind of box, and its lines are shown as text. Use one of those in the documentation of sites.`;
  const text = programs.has(markup.slice(1, -1).toLowerCase()) ? 'with what stands in it' : 'and the text in it stays';
  return `${markup} is left out, ${text}. Pages are Markdown: write it as Markdown, or link to it.`;
}

const tooDeep = `Lists, quotes and boxes are nested more than ${maxNesting} levels deep here (a list counts twice). Deeper content is shown as text.`;
const secondReference = 'A page can embed one whole reference. Move this one to its own page.';
const unclearEmbed =
  'This line embeds nothing. Write `::reference @acme/apis/payments` or `::operation @acme/apis/payments GET /path`, on a line outside of lists and quotes.';

/** Lines of text that begin as one that embeds a reference does, counted from 0. */
function linesLikeEmbeds(tokens: Tokens): number[] {
  return tokens.flatMap(({ type, content, map }) =>
    type === 'inline' && map !== null
      ? content.split('\n').flatMap((line, at) => (/^::(?:reference|operation)\b/.test(line) ? [map[0] + at] : []))
      : [],
  );
}

/** The title: as stated, else the first heading if the page begins with it, which is then taken out; else the file's name. */
function takeTitle(tokens: Tokens, page: PageState, { title }: FrontMatter): string {
  const [first] = tokens;
  const isTop = first?.type === 'heading_open' && first.tag === 'h1';
  const heading = isTop ? page.headings[0]!.text : null;
  if (heading !== null && heading !== '' && (title === null || title === heading)) {
    tokens.splice(0, 3);
    page.headings.shift();
    return heading;
  }
  return title ?? titleFromPath(page.path);
}

/** `guide/first-steps.md` → `First steps`; `guide/index.md` → `Guide`. */
function titleFromPath(path: string): string {
  const parts = path.slice(0, -'.md'.length).split('/');
  return wordsOf(parts.at(-1) === 'index' ? (parts.at(-2) ?? 'Home') : parts.at(-1)!);
}

/** The tokens and lines between embeds. */
function splitAtEmbeds(tokens: Tokens, body: string, before: number) {
  const parts: Tokens[] = [[]];
  const embeds: Embed[] = [];
  const source = body.split('\n');
  const texts: string[] = [];
  let from = 0;
  for (const token of tokens) {
    if (token.type !== 'embed') {
      parts.at(-1)!.push(token);
      continue;
    }
    const [line] = token.map!;
    embeds.push({ ...(token.meta as unknown as EmbedLine), line: before + line! + 1 });
    parts.push([]);
    texts.push(source.slice(from, line).join('\n'));
    from = line! + 1;
  }
  texts.push(source.slice(from).join('\n'));
  return { parts, texts, embeds };
}

function sectionsOf(tokens: Tokens): PageContent['sections'] {
  const sections: PageContent['sections'] = [{ id: '', text: '' }];
  let left = maxText;
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') sections.push({ id: (token.meta as { id: string }).id, text: '' });
    if (token.type !== 'inline' || tokens[index - 1]?.type === 'heading_open' || left <= 0) continue;
    const text = oneLine(plainTextOf(token), Math.min(left, 5_000));
    left -= text.length;
    sections.at(-1)!.text += `${text}\n`;
  }
  return sections.filter(({ id, text }) => id !== '' || text !== '');
}

interface FrontMatter {
  title: string | null;
  description: string;
  order: number | null;
  hidden: boolean;
  /** Coordinate of the resource that the page shows. */
  api: string | null;
  /** One operation of it. */
  operation: string | null;
}

/** A page's front matter, and what is wrong with it. */
interface Read {
  meta: FrontMatter;
  faults: { text: string; line: number }[];
}

const longest = 16_384;
const none: FrontMatter = { title: null, description: '', order: null, hidden: false, api: null, operation: null };

/**
 * Reads the YAML between two lines `---` at the start of a page. Of other languages (`---js`) and
 * without an end, there is none: it is text. `lines`: how many are before the body.
 */
function readFrontMatter(text: string): Read & { body: string; lines: number } {
  const [whole, head] = /^---[ \t]*\n((?:.*\n)*?)---[ \t]*(?:\n|$)/.exec(text.slice(0, longest)) ?? [];
  if (whole === undefined) return { meta: none, faults: [], body: text, lines: 0 };
  return { ...readYaml(head!), body: text.slice(whole.length), lines: whole.split('\n').length - 1 };
}

/** Members that sites do not know are passed over. */
function readYaml(head: string): Read {
  const faulty = (fault: string, line = 1): Read => ({ meta: none, faults: [{ text: fault, line }] });
  const document = parseDocument(head, { uniqueKeys: true, merge: false, schema: 'core' });
  const [error] = document.errors;
  if (error !== undefined) return faulty(error.message.split('\n')[0]!, 1 + (error.linePos?.[0].line ?? 1));
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 0 });
  } catch {
    return faulty('Aliases are not allowed here.');
  }
  if (value === null || value === undefined) return { meta: none, faults: [] };
  return isObject(value) ? membersOf(value) : faulty('It must be names with values, such as title: Payments.');
}

function membersOf(value: JsonObject): Read {
  const faults: Read['faults'] = [];
  function take<T>(name: string, is: (member: unknown) => member is T, what: string): T | null {
    const member = own(value, name) ?? null;
    if (member === null) return null;
    if (is(member)) return member;
    faults.push({ text: `${name} must be ${what}.`, line: 1 });
    return null;
  }
  const isText = (member: unknown): member is string => typeof member === 'string';
  const isLine = (member: unknown): member is string | number =>
    typeof member === 'number' || (isText(member) && member.trim() !== '');
  const isNumber = (member: unknown): member is number => Number.isFinite(member);
  const isFlag = (member: unknown): member is boolean => typeof member === 'boolean';
  const isCoordinate = (member: unknown): member is string => isText(member) && parseCoordinate(member) !== null;
  const title = take('title', isLine, 'a text');
  const meta: FrontMatter = {
    title: title === null ? null : oneLine(String(title), 200),
    description: oneLine(take('description', isText, 'a text') ?? '', 300),
    order: take('order', isNumber, 'a number'),
    hidden: take('hidden', isFlag, 'true or false') ?? false,
    api: take('api', isCoordinate, 'a coordinate such as "@acme/apis/payments"'),
    operation: take('operation', isText, 'an operation such as "GET /payments" or its id'),
  };
  return { meta, faults };
}
