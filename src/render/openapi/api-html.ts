import { oneLine } from '../../model/escape.ts';
import { slugFrom } from '../../model/address.ts';
import type { Pages, PagePart } from '../../model/outline.ts';
import { createFreeName } from '../../model/pointer.ts';
import { formatHtml, lengthOf, markup, nothing, type Html, joinHtml, outsideLink } from '../html.ts';
import { summaryOf } from './list-operations.ts';
import { type Page, createLong } from '../page.ts';
import { nameText } from '../markdown.ts';
import type { Api, OperationGroup, PlacedOperation } from './api-view.ts';
import { methodHtml, docsHtml, operationHtml, operationLine, securityHtml } from './operation-html.ts';
import { listOf, objectOf, textOf, entriesOf } from '../json-value.ts';
import { externalDocsOf } from './operation-view.ts';
import { serversOf } from './outline-api.ts';
import { unknownServer, usualUrl } from './sample-request.ts';
import { namedSchemaHtml, schemaLine, type NamedSchema } from '../schema/named-schema.ts';

/** A heading of the reference with what is below it: operations or schemas. */
interface Section extends OperationGroup {
  schemas: readonly NamedSchema[];
  /** Its heading, then its operations or schemas, with their anchors. */
  pieces: { anchor: string; html: Html }[];
}

/**
 * Characters from which a reference gets a page for each tag. Measured: a page of 2.05 million is
 * drawn 0.9 s after a cold start of a browser, one of 3.5 million after 2.4 s; 1.5 s is the goal
 * (docs/reference-pages.md).
 */
export const longestReference = 2_200_000;

/** Characters after which a part goes on in another page. */
const longestPart = 600_000;

/**
 * Divides a long reference into an overview and a page for each section. Null if one page is
 * enough. `offset`: where the first section starts in the whole.
 */
function pagesOf(page: Page, intro: Html, sections: readonly Section[], offset: number): Pages | null {
  const length = sections.flatMap(({ pieces }) => pieces).reduce((sum, { html }) => sum + lengthOf(html), offset);
  if (length < longestReference) return null;
  const parts = divide(sections, offset);
  if (parts.length < 2) return null;
  const overview = markup`<div class="reference">${intro}${sections.map((section) => sectionIndex(page, section))}</div>`;
  return { overview: formatHtml(overview), parts };
}

function divide(sections: readonly Section[], offset: number): PagePart[] {
  // The whole has a name, too.
  const freeName = createFreeName(new Set(['whole']), 'part');
  const parts: PagePart[] = [];
  let at = offset;
  for (const { name: title, pieces } of sections) {
    const slug = (slugFrom(title) ?? '').slice(0, 50).replace(/-$/, '');
    let count = 0;
    let part: PagePart | null = null;
    for (const { anchor, html } of pieces) {
      if (part === null || part.to - part.from > longestPart) {
        count++;
        const numbered = count === 1 ? title : `${title} (${count})`;
        part = { name: freeName(slug), title: numbered, from: at, to: at, anchors: [] };
        parts.push(part);
      }
      at += lengthOf(html);
      part.to = at;
      part.anchors.push(anchor);
    }
  }
  return parts;
}

function operationLink({ operation, anchor }: PlacedOperation): Html {
  const { method, path, value } = operation;
  const label = markup`${methodHtml(method)} <code>${nameText(path, 300)}</code>`;
  const link = markup`<a href="#${anchor}">${value['deprecated'] === true ? markup`<s>${label}</s>` : label}</a>`;
  return markup`${link} ${summaryOf(operation, 120)}`;
}

function sectionIndex(page: Page, { name: title, anchor, description, operations, schemas }: Section): Html {
  const lines = [
    ...operations.map((one) => markup`<li id="${one.anchor}">${operationLink(one)}</li>`),
    ...schemas.map(
      ({ name, anchor: place }) => markup`<li id="${place}"><a href="#${place}">${nameText(name, 100)}</a></li>`,
    ),
  ];
  const list = markup`<ul class="${operations.length === 0 ? 'index names' : 'index'}">${lines}</ul>`;
  return markup`<h2 id="${anchor}"><a href="#${anchor}">${nameText(title, 200)}</a></h2>
    ${page.descriptions.block(description, 4)}${lines.length === 0 ? nothing : list}`;
}

/** What stands before the parts of a reference. */
const start = '<div class="reference">';

/**
 * The reference of an API as HTML, with the pages that a long one is divided into. `isCut`: whether
 * parts were shortened. `rowsOf`: rows of named schemas for each of so many operations of a section.
 */
export function apiHtml(
  page: Page,
  api: Api,
  budget: number,
  rowsOf: (operations: number) => number,
): { html: Html; isCut: boolean; pages: Pages | null } {
  const long = createLong(lengthOf, budget);
  const intro = introHtml(page, api);
  long.add(() => intro);
  const sections: Section[] = [];
  /** Adds a part, and notes it in the last section. */
  const add = (anchor: string, whole: () => Html, short?: () => Html) => {
    const count = long.parts.length;
    long.add(whole, short);
    if (long.parts.length > count) sections.at(-1)!.pieces.push({ anchor, html: long.parts.at(-1)! });
  };
  const begin = (section: Omit<Section, 'pieces'>) => {
    sections.push({ ...section, pieces: [] });
    const { name, anchor, description } = section;
    const heading = markup`<h2 id="${anchor}">${nameText(name, 200)}</h2>`;
    add(
      anchor,
      () => markup`${heading}${page.descriptions.block(description, 4)}`,
      () => heading,
    );
  };
  for (const section of api.sections) {
    begin({ ...section, schemas: [] });
    const part = { ...page, inlineRows: rowsOf(section.operations.length) };
    for (const { operation, anchor } of section.operations)
      add(
        anchor,
        () => operationHtml(part, operation, anchor),
        () => operationLine(operation, anchor),
      );
  }
  if (api.schemas.length > 0) {
    begin({ name: 'Schemas', anchor: 'schemas', description: '', operations: [], schemas: api.schemas });
    for (const [at, one] of api.schemas.entries())
      add(
        one.anchor,
        () => namedSchemaHtml(page, one, at < maxSamples),
        () => schemaLine(one),
      );
  }
  const html = markup`<div class="reference">${joinHtml(long.parts)}</div>`;
  return { html, isCut: long.isCut(), pages: pagesOf(page, intro, sections, start.length + lengthOf(intro)) };
}

const maxSamples = 500;

function introHtml(page: Page, api: Api): Html {
  const { document } = page;
  const info = objectOf(document['info']);
  const { name, url, email } = objectOf(info['contact']);
  const license = objectOf(info['license']);
  const links = [
    fact('Contact', textOf(url), textOf(name) || textOf(url)),
    fact('E-mail', textOf(email) === '' ? '' : `mailto:${textOf(email)}`, textOf(email)),
    fact('Licence', textOf(license['url']), textOf(license['name']) || textOf(license['identifier'])),
    fact('Terms', textOf(info['termsOfService']), textOf(info['termsOfService'])),
  ];
  const docs = externalDocsOf(document['externalDocs']);
  const facts = joinHtml([serversHtml(page, api), ...links]);
  return markup`<section class="intro" data-ask="${JSON.stringify(askOf(page, api))}">
    ${page.descriptions.block(textOf(info['summary']), 3)}${page.descriptions.main(textOf(info['description']), 2)}${docsHtml(docs)}
    ${lengthOf(facts) === 0 ? nothing : markup`<dl>${facts}</dl>`}
    ${glanceHtml(page, api, textOf(info['description']))}
    ${schemesHtml(page, api)}
  </section>`;
}

/** Characters of the flows of OAuth that stand in a page. */
const longestFlows = 8000;

/**
 * What a reader can choose for all requests (`reference.js`): servers as written and with the usual values of their variables, and the
 * schemes that the document wants first: name, type, kind, name of the key, and flows of OAuth. `isMore`: the form for a request has
 * other fields.
 */
function askOf({ document, security }: Page, { security: all }: Api): object {
  const servers = serversOf(document)
    .slice(0, 20)
    .map((server) => [server.url.slice(0, 500), usualUrl(server)] as const);
  const needed = security.find((one) => one.length > 0)?.map(({ scheme }) => scheme) ?? [all[0]?.name];
  const schemes = all
    .filter(({ name }) => needed.includes(name))
    .slice(0, 3)
    .map(({ name, scheme: { description: _description, ...scheme } }) => {
      const oauth = scheme['type'] === 'oauth2' && JSON.stringify(scheme).length <= longestFlows ? [scheme] : [];
      return [name, ...['type', 'scheme', 'name'].map((key) => textOf(scheme[key]).slice(0, 100)), ...oauth];
    });
  const hasOthers = schemes.length < all.length || schemes.some(([, type, , , oauth]) => type === 'oauth2' && !oauth);
  return { servers, schemes, isMore: hasOthers || servers.some(([url]) => url.includes('{')) };
}

function fact(name: string, url: string, label: string): Html {
  return label === '' && url === ''
    ? nothing
    : markup`<dt>${name}</dt>
        <dd>${outsideLink(url, label || url)}</dd>`;
}

function serversHtml({ document, descriptions }: Page, { groups }: Api): Html {
  const servers = serversOf(document).slice(0, 100);
  if (servers.length === 0)
    return groups.length > 0
      ? markup`<dt>Servers</dt><dd>The document names none: <code>${unknownServer}</code> stands for yours.</dd>`
      : nothing;
  return markup`<dt>Servers</dt>
    ${servers.map(
      ({ url, description, variables }) =>
        markup`<dd><code>${url.slice(0, 500)}</code> ${descriptions.line(description).html}${variablesHtml(descriptions, variables)}</dd>`,
    )}`;
}

function variablesHtml(descriptions: Page['descriptions'], variables: unknown): Html {
  const all = entriesOf(variables).slice(0, 50);
  if (all.length === 0) return nothing;
  const items = all.map(([name, variable]) => {
    const { default: usual, enum: values, description } = objectOf(variable);
    const codes = listOf(values)
      .slice(0, 100)
      .map((value) => markup` <code>${textOf(value).slice(0, 200)}</code>`);
    return markup`<li><code>${nameText(name, 200)}</code> ${textOf(usual) === '' ? nothing : markup`<span class="limits">default <code>${textOf(usual).slice(0, 200)}</code></span>`}
      ${descriptions.brief(textOf(description))}
      ${codes.length === 0 ? nothing : markup`<p class="values">One of${codes}</p>`}
    </li>`;
  });
  return markup`<ul class="props">${items}</ul>`;
}

function schemesHtml(page: Page, { security }: Api): Html {
  if (security.length === 0) return nothing;
  return markup`<h2 id="security">Authorization</h2>
    ${securityHtml(page, page.security)}
    <dl>
      ${security.map(
        ({ name, scheme, anchor }) =>
          markup`<dt id="${anchor}"><code>${nameText(name, 300)}</code></dt>
            <dd>
              ${schemeText(scheme)}${page.descriptions.brief(textOf(scheme['description']))}${scopesHtml(scheme)}
            </dd>`,
      )}
    </dl>`;
}

function schemeText(scheme: Record<string, unknown>): Html {
  const { type, name, in: place, scheme: kind, bearerFormat, openIdConnectUrl } = scheme;
  if (type === 'apiKey') return markup`API key in ${textOf(place)} <code>${textOf(name)}</code>`;
  if (type === 'http') return markup`HTTP ${textOf(kind)} ${textOf(bearerFormat)}`;
  if (type === 'basic') return markup`HTTP basic`;
  if (type === 'openIdConnect')
    return markup`OpenID Connect ${outsideLink(textOf(openIdConnectUrl), textOf(openIdConnectUrl))}`;
  return markup`${type === 'oauth2' ? 'OAuth 2.0' : type === 'mutualTLS' ? 'mutual TLS' : textOf(type)}`;
}

function scopesHtml(scheme: Record<string, unknown>): Html {
  const flows = [['', scheme] as const, ...entriesOf(scheme['flows'])];
  return joinHtml(
    flows.map(([name, flow]) => {
      const { authorizationUrl, tokenUrl, refreshUrl, deviceAuthorizationUrl, scopes } = objectOf(flow);
      const urls = [authorizationUrl, deviceAuthorizationUrl, tokenUrl, refreshUrl].map(textOf).filter(Boolean);
      const all = entriesOf(scopes);
      if (urls.length === 0 && all.length === 0) return nothing;
      const list = all
        .slice(0, 500)
        .map(([scope, text]) => markup`<li><code>${scope}</code> ${oneLine(textOf(text), 300)}</li>`);
      const scopeList =
        list.length === 0
          ? nothing
          : markup`<details>
              <summary>${all.length} scopes</summary>
              <ul class="props">
                ${list}
              </ul>
            </details>`;
      const links = joinHtml(
        urls.map((url) => outsideLink(url, url)),
        markup`, `,
      );
      return markup`<p>${name === '' ? textOf(scheme['flow']) : name} ${links}</p>${scopeList}`;
    }),
  );
}

/** Characters of a description after which the first screen is full anyway. */
const longestDescription = 1500;

/** Most operations that are listed. Of more, only their tags are. */
const maxOperations = 24;
const maxTags = 40;

/** What an API can do, on the first screen: its operations, or its tags. Nothing where a long description stands there. */
function glanceHtml(page: Page, { groups }: Api, description: string): Html {
  const operations = groups.flatMap((group) => group.operations);
  if (description.length > longestDescription || operations.length === 0) return nothing;
  if (operations.length > maxOperations && groups.length < 2) return nothing;
  const lines =
    operations.length <= maxOperations
      ? operations.map(operationLink)
      : groups
          .slice(0, maxTags)
          .map(
            ({ name, anchor, description: text, operations: own }) =>
              markup`<a href="#${anchor}">${nameText(name, 80)}</a> <span class="count">${own.length}</span> ${page.descriptions.brief(text)}`,
          );
  return markup`<h2>At a glance</h2>
    <ul class="index">${lines.map((line) => markup`<li>${line}</li>`)}</ul>`;
}
