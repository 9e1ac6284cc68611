import { examplesHtml } from '../schema/example.ts';
import { joinHtml, lengthOf, markup, nothing, type Html, outsideLink } from '../html.ts';
import { summaryOf, type ApiOperation } from './list-operations.ts';
import {
  type Media,
  callbacksOf,
  securityOf,
  viewOperation,
  type Callback,
  type OperationView,
  type Parameter,
  type Requirement,
  type Response,
} from './operation-view.ts';
import type { Page } from '../page.ts';
import { samplesHtml, statusHtml, tabsHtml } from './sample-html.ts';
import { serverOf } from './sample-request.ts';
import { giveBack, roomFor, shareOf, type Room, flagHtml, rowHtml, wholeSchemaHtml } from '../schema/schema-html.ts';
import { nameText } from '../markdown.ts';

/** One complete operation with its anchor. */
export function operationHtml(page: Page, operation: ApiOperation, anchor: string): Html {
  const view = viewOperation(page.document, operation);
  const server = serverOf(page.document, view);
  const room = roomFor(page.inlineRows);
  const title = titleOf(operation);
  return markup`<section class="operation" id="${anchor}">
    <h3>
      <a href="#${anchor}">${view.isDeprecated ? markup`<s>${title}</s>` : title}</a>${view.isDeprecated ? flagHtml('deprecated') : nothing}
    </h3>
    ${urlHtml(operation, server)}
    ${aboutHtml(page, operation, view)}
    ${samplesHtml(page, operation, view, anchor)}
    <div class="parts">
      ${serversHtml(view.servers, server)}
      ${securityHtml(page, securityOf(page.document, operation))}
      ${parametersHtml(page, view.parameters, room)}
      ${bodyHtml(page, view, room, { anchor, isReceived: operation.isWebhook })}
      ${responsesHtml(page, view.responses, room, anchor)}
      ${callbacksOf(page.document, operation).map((one) => callbackHtml(page, one))}
    </div>
  </section>`;
}

/** One operation as a single line, for documents that are too long. */
export function operationLine(operation: ApiOperation, anchor: string): Html {
  return markup`<section class="operation" id="${anchor}">
    <h3>${titleOf(operation)}</h3>
    ${urlHtml(operation, '')}
  </section>`;
}

function titleOf(operation: ApiOperation): string {
  return summaryOf(operation, 300) || nameText(`${operation.method} ${operation.path}`, 300);
}

export function methodHtml(method: string): Html {
  const name = method.toLowerCase();
  const isKnown = ['get', 'put', 'post', 'delete', 'patch'].includes(name);
  return markup`<b class="${isKnown ? `method ${name}` : 'method'}">${method.slice(0, 50)}</b>`;
}

function urlHtml({ method, path, isWebhook }: ApiOperation, base: string): Html {
  const server = base === '' || isWebhook ? nothing : markup`<span class="base">${base.slice(0, 200)}</span>`;
  return markup`<p class="url">${methodHtml(method)} <code>${server}${path.slice(0, 2000)}</code></p>`;
}

/** What is said of an operation before its parts. Where there is one column, its samples follow. */
function aboutHtml(page: Page, operation: ApiOperation, view: OperationView): Html {
  // A description of one sentence without a summary is the title already.
  const isTitle = view.description.trim().replace(/\.$/, '') === titleOf(operation);
  const words = markup`${page.descriptions.block(isTitle ? '' : view.description, 5)}${docsHtml(view.externalDocs)}`;
  return lengthOf(words) === 0 ? nothing : markup`<div class="about">${words}</div>`;
}

function callbackHtml(page: Page, { name, operations, from }: Callback): Html {
  const all = page.once(from, 'callback', () => joinHtml(operations.map((one) => callbackOperationHtml(page, one))));
  return markup`<h4>Callback ${name}</h4>
    ${all}`;
}

/** An operation of a callback, inside another: folded, and without callbacks of its own. */
function callbackOperationHtml(page: Page, operation: ApiOperation): Html {
  const view = viewOperation(page.document, operation);
  const room = roomFor(0);
  const examples = (view.body?.media ?? []).flatMap((media) => media.examples);
  return markup`<details>
    <summary>${methodHtml(operation.method)} <code>${operation.path.slice(0, 500)}</code></summary>
    ${page.descriptions.block(view.description || summaryOf(operation, 300), 5)}
    ${parametersHtml(page, view.parameters, room)}
    ${bodyHtml(page, view, room, { anchor: null, isReceived: true })}
    ${examplesHtml(examples)}
    ${responsesHtml(page, view.responses, room, null)}
  </details>`;
}

export function docsHtml(docs: OperationView['externalDocs']): Html {
  if (docs === null) return nothing;
  return markup`<p>More: ${outsideLink(docs.url, docs.description || docs.url)}</p>`;
}

/** Where the operation is, unless that stands before its path. */
function serversHtml(servers: OperationView['servers'], base: string): Html {
  if (servers.every(({ url }) => url.replace(/\/$/, '') === base)) return nothing;
  return markup`<p>At${servers.slice(0, 10).map(({ url }) => markup` <code>${url.slice(0, 500)}</code>`)}</p>`;
}

/** Alternatives joined by `or`, combined requirements by `and`. */
export function securityHtml(page: Page, security: readonly Requirement[]): Html {
  if (security.length === 0) return nothing;
  const alternatives = security.slice(0, 20).map((schemes) =>
    schemes.length === 0
      ? markup`nothing`
      : joinHtml(
          schemes.slice(0, 20).map(({ scheme, scopes }) => {
            const anchor = page.anchors.security.get(scheme);
            const label = nameText(scheme, 300);
            const name = anchor === undefined ? markup`${label}` : markup`<a href="#${anchor}">${label}</a>`;
            return markup`${name}${scopes.slice(0, 50).map((scope) => markup` <code>${scope}</code>`)}`;
          }),
          markup` and `,
        ),
  );
  return markup`<p class="auth">Authorization: ${joinHtml(alternatives, markup` or `)}</p>`;
}

const places: readonly (readonly [string, string])[] = [
  ['path', 'Path parameters'],
  ['query', 'Query parameters'],
  ['querystring', 'Query string'],
  ['header', 'Headers'],
  ['cookie', 'Cookies'],
];

function parametersHtml(page: Page, parameters: readonly Parameter[], room: Room): Html {
  const listOf = ([place, title]: (typeof places)[number]) => {
    const group = parameters.filter((one) => one.place === place);
    return group.length === 0
      ? nothing
      : markup`<h4>${title}</h4>
          ${parameterList(page, group, room)}`;
  };
  return page.once(parameters, `list ${room.named}`, () => joinHtml(places.map(listOf)));
}

function parameterList(page: Page, parameters: readonly Parameter[], room: Room): Html {
  return markup`<ul class="props">
    ${parameters
      .slice(0, 500)
      .map((parameter) =>
        page.once(parameter.from, `${parameter.name} ${room.named}`, () => parameterHtml(page, parameter, room)),
      )}
  </ul>`;
}

function parameterHtml(page: Page, parameter: Parameter, room: Room): Html {
  return rowHtml(
    page,
    { label: { code: parameter.name }, isRequired: parameter.isRequired, schema: parameter.schema ?? true },
    roomFor(Math.min(20, room.named)),
    {
      description: parameter.description,
      flags: parameter.isDeprecated ? ['deprecated'] : [],
      extra: examplesHtml(parameter.examples),
    },
  );
}

/** The body of a request; that of a webhook is received, so it has what the API itself writes. */
function bodyHtml(
  page: Page,
  { body }: OperationView,
  room: Room,
  { anchor, isReceived }: { anchor: string | null; isReceived: boolean },
): Html {
  if (body === null) return nothing;
  const flag = body.isRequired ? flagHtml('required') : nothing;
  const hides = isReceived ? 'writeOnly' : 'readOnly';
  const choice = anchor === null || body.media.length < 2 ? null : `${anchor}/body`;
  const media = onceIn(page, room, body.from, `body ${hides} ${choice}`, () =>
    mediaHtml(page, body.media, room, { part: 0.5, hides, least: leastRows, choice }),
  );
  return markup`<h4>Request body${flag}${onlyTypeHtml(body.media)}</h4>
    ${page.descriptions.block(body.description, 5)}${media}`;
}

/** The HTML of a part within this room, made once. Each use takes as much room as the first one. */
function onceIn(page: Page, room: Room, part: object, form: string, make: () => Html): Html {
  const { html, named } = page.once(part, `${form} ${room.named}`, () => ({ html: make(), named: room.named }));
  room.named = named;
  return html;
}

/** The media type of a body that has only one. It stands beside the heading. */
function onlyTypeHtml(media: readonly Media[]): Html {
  const [type, ...others] = media.flatMap(({ types }) => types);
  return type === undefined || others.length > 0 ? nothing : markup` <code class="of">${type.slice(0, 200)}</code>`;
}

/** Minimum number of rows of a body and of the first answer: what readers look for is never behind a link. */
const leastRows = 150;

/** How bodies are shown. `least`: rows of each that it has in any case. `choice`: names the tabs of bodies that differ; null: no tabs. */
interface Bodies {
  part: number;
  hides: Room['hides'];
  least: number;
  choice: string | null;
}

/** Bodies, which may use a part of the room for named schemas. */
function mediaHtml(page: Page, all: readonly Media[], room: Room, { part, hides, least, choice }: Bodies): Html {
  const share = { ...shareOf(room, part), hides };
  const bodies = all.map(({ types, schema, itemSchema }) => {
    const codes = types.slice(0, 20).map((type) => markup`<code>${nameText(type, 200)}</code>`);
    const whole = schema === undefined ? nothing : treeHtml(page, schema, share, least);
    const items =
      itemSchema === undefined ? nothing : markup`<p>Each item</p>${treeHtml(page, itemSchema, share, least)}`;
    const names = joinHtml(codes, markup` or `);
    return { names, tree: markup`${whole}${items}` };
  });
  giveBack(room, share);
  const isOnly = all.length === 1 && all[0]!.types.length === 1;
  if (choice === null || all.length === 1 || bodies.every(({ tree }) => lengthOf(tree) === 0))
    return joinHtml(
      bodies.map(({ names, tree }) => markup`<div class="media">${isOnly ? nothing : markup`${names} `}${tree}</div>`),
    );
  const tabs = bodies.map(({ names, tree }) => markup`<summary>${names}</summary><div class="media">${tree}</div>`);
  return tabsHtml(tabs, choice);
}

function treeHtml(page: Page, schema: unknown, share: Room, least: number): Html {
  const room = { ...roomFor(share.named, share.hides), follows: share.follows };
  const html = wholeSchemaHtml(page, schema, room, least);
  share.named = room.named;
  return html;
}

function responsesHtml(page: Page, responses: readonly Response[], room: Room, anchor: string | null): Html {
  if (responses.length === 0) return nothing;
  const opened = responses.find(({ status }) => status.startsWith('2')) ?? responses[0];
  // The response that readers look for has room first; the others are often the same problem.
  const main = shareOf(room, 0.6);
  const others = responses.length - 1;
  return markup`<h4>Responses</h4>
    <div class="responses">${responses.slice(0, 200).map((response, at) => {
      const isOpen = response === opened;
      const choice = anchor === null || response.media.length < 2 ? null : `${anchor}/response/${at}`;
      const part = isOpen ? 1 : 1 / others;
      return responseHtml(page, response, isOpen ? main : room, { isOpen, part, choice });
    })}</div>`;
}

interface Showing extends Pick<Bodies, 'part' | 'choice'> {
  isOpen: boolean;
}

function responseHtml(page: Page, response: Response, room: Room, showing: Showing): Html {
  const form = `response ${response.status} ${showing.isOpen} ${showing.part} ${showing.choice}`;
  return onceIn(page, room, response.from, form, () => wholeResponseHtml(page, response, room, showing));
}

function wholeResponseHtml(page: Page, response: Response, room: Room, { isOpen, part, choice }: Showing): Html {
  const { status, description, headers, media, links } = response;
  const { html: words, isWhole } = page.descriptions.line(description);
  const start = markup`${statusHtml(status)} ${words}${onlyTypeHtml(media)}`;
  const rest = isWhole ? nothing : page.descriptions.block(description, 5);
  const list =
    headers.length === 0
      ? nothing
      : markup`<p>Headers</p>
          ${parameterList(page, headers, room)}`;
  const linked = links
    .slice(0, 50)
    .map(
      ({ name, target, description: text }) =>
        markup`<p>Link ${name}: <code>${target.slice(0, 500)}</code> ${page.descriptions.line(text).html}</p>`,
    );
  const parts = markup`${rest}${list}${mediaHtml(page, media, room, { part, hides: 'writeOnly', least: isOpen ? leastRows : 0, choice })}${linked}`;
  if (lengthOf(parts) === 0) return markup`<p class="response">${start}</p>`;
  const summary = markup`<summary>${start}</summary>`;
  return isOpen
    ? markup`<details class="response" open>${summary}${parts}</details>`
    : markup`<details class="response">${summary}${parts}</details>`;
}
