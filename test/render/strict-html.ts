/** What is in a piece of HTML, and everything about it that is not as strictly written as rendered documents are. */
export interface CheckedHtml {
  problems: string[];
  ids: string[];
  /** Values of `href`. */
  links: string[];
  /** How often each element occurs. */
  elements: Record<string, number>;
}

const inline = 'a b i em strong s code span br img'.split(' ');
const blocks = 'div section p h2 h3 h4 h5 h6 ul ol dl pre table details blockquote hr'.split(' ');
const flow = [...blocks, ...inline, '#text'];
const phrasing = [...inline, '#text'];

/** The elements there are, with what may stand directly in them. A browser builds the same tree from what keeps to this. */
const allowedIn: Record<string, readonly string[]> = {
  '': flow,
  ...Object.fromEntries(['div', 'section', 'li', 'dd', 'td', 'blockquote'].map((name) => [name, flow])),
  ...Object.fromEntries(['p', 'h2', 'h3', 'h4', 'h5', 'h6', 'dt', 'th'].map((name) => [name, phrasing])),
  ...Object.fromEntries(
    ['a', 'b', 'i', 'em', 'strong', 's', 'code', 'span', 'summary'].map((name) => [name, phrasing]),
  ),
  details: ['summary', ...flow],
  ul: ['li'],
  ol: ['li'],
  dl: ['dt', 'dd'],
  table: ['thead', 'tbody'],
  thead: ['tr'],
  tbody: ['tr'],
  tr: ['th', 'td'],
  pre: ['code'],
};

const children = new Map(Object.entries(allowedIn).map(([name, names]) => [name, new Set(names)]));

/** The classes of the list at the top of `src/render/render.ts`. */
const classes =
  /^(?:reference|intro|operation|schema|rule|url|description|props|options|type|limits|later|values|responses?|media|samples|answers?|about|parts|table|base|of|auth|example(?: request)?|more|nav|image|index(?: names)?|count|method(?: (?:get|put|post|delete|patch))?|flag(?: (?:required|deprecated))?|status s[1-5x]|severity (?:error|warn|info|hint|off))$/;

const attributes: Record<string, RegExp> = {
  ...Object.fromEntries(['h3', 'h4', 'h5', 'h6'].map((name) => [`${name} id`, /^section\/[A-Za-z0-9._-]+$/])),
  'a href': /^(?:#[A-Za-z0-9._/-]+|https?:\/\/\S+|mailto:\S+)$/i,
  'a rel': /^nofollow noopener noreferrer$/,
  'span title': /^https:\/\/\S+$/i,
  'img src': /^image:[0-9a-f]{16}\.[a-z]+$/,
  'img alt': /^[^]*$/,
  'img width': /^\d{1,5}$/,
  'img height': /^\d{1,5}$/,
  'img loading': /^lazy$/,
  'div data-example': /^[^]*$/,
  'div data-type': /^[^]*$/,
  'section data-ask': /^\{[^]*\}$/,
  'th scope': /^(?:col|row)$/,
  'pre tabindex': /^0$/,
  'div tabindex': /^0$/,
  'details data-sample': /^[^]*$/,
  'details name': /^[A-Za-z0-9._/-]+$/,
  'ol start': /^\d{1,9}$/,
  ...Object.fromEntries(['section', 'h2', 'dt', 'tr', 'li'].map((name) => [`${name} id`, /^[A-Za-z0-9._/-]+$/])),
  ...Object.fromEntries(Object.keys(allowedIn).map((name) => [`${name} class`, classes])),
};

const strayAmpersand = /&(?!(?:amp|lt|gt|quot|#39);)/;

/** Reads HTML by a grammar much narrower than that of browsers. An empty list of problems: nothing is in it but our own elements and attributes. */
export function checkHtml(html: string): CheckedHtml {
  const problems: string[] = [];
  const ids: string[] = [];
  const links: string[] = [];
  const elements: Record<string, number> = {};
  const open: { name: string; at: number; text: boolean; children: number }[] = [];
  const say = (what: string, at: number) =>
    problems.length < 20 && problems.push(`${what} at ${JSON.stringify(html.slice(Math.max(0, at - 60), at + 60))}`);
  const token = /<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>|[^<]+|</gy;
  for (let match = token.exec(html); match !== null; match = token.exec(html)) {
    const [whole, close, name, written = ''] = match;
    const { index } = match;
    const parent = open.at(-1);
    if (name === undefined) {
      if (whole === '<' || whole.includes('>')) say('a stray angle bracket', index);
      if (whole.includes('&') && strayAmpersand.test(whole)) say('a stray ampersand', index);
      if (parent?.name !== 'code' && whole.includes('\0')) say('a NUL', index);
      if (whole.trim() === '') continue;
      if (parent) parent.text = true;
      if (!children.get(parent?.name ?? '')?.has('#text')) say(`text in <${parent?.name}>`, index);
      continue;
    }
    if (close === '/') {
      if (parent?.name !== name) say(`</${name}> closes <${parent?.name}>`, index);
      if (written !== '') say('a closing tag with attributes', index);
      open.pop();
      if (['a', 'summary', 'h2', 'h3', 'h4', 'h5', 'h6'].includes(name) && parent && !parent.text)
        say(`an empty <${name}>`, index);
      if (['ul', 'ol', 'dl', 'table', 'tr', 'details'].includes(name) && parent?.children === 0)
        say(`an empty <${name}>`, index);
      const above = open.at(-1);
      if (above && parent?.text) above.text = true;
      continue;
    }
    elements[name] = (elements[name] ?? 0) + 1;
    if (!children.get(parent?.name ?? '')?.has(name)) say(`<${name}> in <${parent?.name ?? ''}>`, index);
    if (name === 'a' && open.some((one) => one.name === 'a')) say('a link in a link', index);
    if (name === 'summary' && parent?.children !== 0) say('a <summary> that is not the first', index);
    if (parent?.name === 'details' && parent.children === 0 && name !== 'summary')
      say('<details> without <summary>', index);
    if (parent) parent.children++;
    const seen = new Set<string>();
    for (const [, attribute = '', value] of written === '' ? [] : written.matchAll(/ ([a-z-]+)(?:="([^"]*)")?/g)) {
      if (seen.has(attribute)) say(`${attribute} twice`, index);
      seen.add(attribute);
      if (attribute === 'open' && name === 'details' && value === undefined) continue;
      const text = unescapeHtml(value ?? '');
      if (!attributes[`${name} ${attribute}`]?.test(text)) say(`<${name} ${attribute}="${value}">`, index);
      if (strayAmpersand.test(value ?? '')) say('a stray ampersand', index);
      if (attribute === 'id') ids.push(text);
      if (attribute === 'href') links.push(text);
    }
    if (name === 'img' && parent) parent.text = true;
    if (!['br', 'hr', 'img'].includes(name)) open.push({ name, at: index, text: false, children: 0 });
  }
  for (const { name, at } of open) say(`<${name}> is not closed`, at);
  return { problems, ids, links, elements };
}

function unescapeHtml(text: string): string {
  if (!text.includes('&')) return text;
  const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => characters[name]!);
}

/** Problems of a page's two parts together: ids that are there twice, links to places that are not there. */
export function checkPage(rendered: { html: string; navigation: string }): string[] {
  const page = checkHtml(rendered.html);
  const navigation = checkHtml(rendered.navigation);
  const all = [...page.ids, ...navigation.ids];
  const known = new Set<string>();
  const twice = new Set(all.filter((id) => known.size === known.add(id).size));
  const targets = [...page.links, ...navigation.links].filter((href) => href.startsWith('#'));
  return [
    ...page.problems,
    ...navigation.problems.map((problem) => `navigation: ${problem}`),
    ...[...twice].map((id) => `the id ${id} twice`),
    ...[...new Set(targets)].filter((href) => !known.has(href.slice(1))).map((href) => `${href} leads nowhere`),
  ];
}
