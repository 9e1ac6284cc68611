import { exampleHtml, type Example } from '../schema/example.ts';
import { isSmall, sampleOf, smallIn } from '../schema/sample-value.ts';
import { markup, nothing, type Html } from '../html.ts';
import { isJson, type OperationView, type Response } from './operation-view.ts';
import type { ApiOperation } from './list-operations.ts';
import { listOf, objectOf, textOf } from '../json-value.ts';
import type { Page } from '../page.ts';
import { nameText } from '../markdown.ts';
import { curlOf, sampleRequest } from './sample-request.ts';
import { bodyText, bodyTypes, examplesOf, type BodyType } from './sample-body.ts';

// Most examples of a body, and most bodies of responses.
const maxExamples = 10;
const maxAnswers = 20;

/**
 * Samples of one operation: a request with curl, the other examples of its body, and the bodies of
 * its responses, one of which is open at a time. Scripts write the request in other languages.
 */
export function samplesHtml({ schemas }: Page, operation: ApiOperation, view: OperationView, anchor: string): Html {
  // Of each media type a request, of which the first is on the page and the others are in folds.
  const [first, ...types] = operation.isWebhook ? [] : bodyTypes(view.body?.media).slice(0, maxExamples);
  const curl = (type?: BodyType) =>
    markup`<pre tabindex="0"><code>${curlOf(sampleRequest(schemas, operation, view, type))}</code></pre>`;
  const request = operation.isWebhook ? nothing : curl(first);
  const requests = types.map(
    (one) =>
      markup`<details class="example request"><summary>${nameText(one.type, 100)}</summary>${curl(one)}</details>`,
  );
  const bodies = (view.body?.media ?? []).flatMap((media) => media.examples);
  // The first is in the request already, if it is small.
  const shown = operation.isWebhook ? undefined : smallIn(bodies.slice(0, 1));
  const others = bodies.slice(shown ? 1 : 0);
  const name = shown && others.length > 0 ? shown.name.slice(0, 300) : '';
  const answers = view.responses.flatMap((response) => answersOf(schemas, response)).slice(0, maxAnswers);
  // The body that a webhook sends is made as that of a response is.
  const payloads = operation.isWebhook && others.length === 0 ? bodyTypes(view.body?.media) : [];
  const beside = [...others, ...payloads.flatMap((one) => generated(schemas, one))];
  if (operation.isWebhook && beside.length + answers.length === 0) return nothing;
  const examples = beside.slice(0, maxExamples).map((example, at) => {
    const title = markup`Body: ${example.name.slice(0, 300) || nameText(example.type ?? '', 100)}`;
    const inside = exampleHtml(title, example);
    // A receiver of a webhook looks for the sent body first.
    return operation.isWebhook && at === 0
      ? markup`<details class="example" open>${inside}</details>`
      : markup`<details class="example">${inside}</details>`;
  });
  const all = markup`${request}${requests}${writtenCode(operation)}${examples}${answersHtml(answers, anchor)}`;
  const type = types.length > 0 ? nameText(first!.type, 100) : '';
  return markup`<div class="samples" data-example="${name}" data-type="${type}">${all}</div>`;
}

/** Samples that the author wrote (`x-codeSamples`, as other tools show them). */
function writtenCode({ value }: ApiOperation): Html[] {
  return listOf(value['x-codeSamples'] ?? value['x-code-samples'])
    .slice(0, 100)
    .map(objectOf)
    .filter(({ source }) => textOf(source) !== '')
    .slice(0, maxExamples)
    .map(({ lang, label, source }) => {
      const title = markup`Sample: ${nameText(textOf(label) || textOf(lang) || 'code', 100)}`;
      return markup`<details class="example">${exampleHtml(title, { value: textOf(source) })}</details>`;
    });
}

/** The body of a response; null: it has none. */
interface Answer {
  status: string;
  title: string;
  example: Example | null;
}

/** The bodies of responses, as tabs: a tab for each status, and in it one for each of several examples. The first of a success is open. */
function answersHtml(answers: readonly Answer[], anchor: string): Html {
  if (answers.every(({ example }) => example === null)) return nothing;
  const statuses = [...Map.groupBy(answers, ({ status }) => status)];
  const main = statuses.findIndex(([status]) => status.startsWith('2'));
  const tabs = statuses.map(([status, [first, ...others]], at) =>
    others.length === 0
      ? exampleHtml(markup`${statusHtml(status)} <span>${first!.title}</span>`, first!.example)
      : markup`<summary>${statusHtml(status)}</summary>${tabsHtml(
          [first!, ...others].map(({ title, example }) => exampleHtml(markup`${title}`, example)),
          `${anchor}/${at}`,
        )}`,
  );
  return tabsHtml(tabs, anchor, Math.max(0, main));
}

/** Summaries with what they show, of which one is open at a time. */
export function tabsHtml(tabs: readonly Html[], name: string, opened = 0): Html {
  if (tabs.length === 1) return markup`<div class="answers"><details class="answer" open>${tabs}</details></div>`;
  const all = tabs.map((tab, at) =>
    at === opened
      ? markup`<details class="answer" name="${name}" open>${tab}</details>`
      : markup`<details class="answer" name="${name}">${tab}</details>`,
  );
  return markup`<div class="answers">${all}</div>`;
}

/** The examples of a response by media type; of one without any, one made from its schema. A success without a body says so. */
function answersOf(schemas: Page['schemas'], { status, media }: Response): Answer[] {
  if (media.length === 0 && status.startsWith('2')) return [{ status, title: '', example: null }];
  const all = bodyTypes(media);
  return all.flatMap((one) => {
    const given = examplesOf(one)
      .slice(0, maxExamples)
      .map((example) => written(schemas, one, example));
    const samples = given.every(({ isElsewhere }) => isElsewhere) ? generated(schemas, one) : [];
    return [...samples, ...given].map((example) => {
      const words = [example.name.slice(0, 300), nameText(one.type, 100)].filter(Boolean);
      return { status, title: (all.length > 1 ? words : words.slice(0, 1)).join(', '), example };
    });
  });
}

/** An author may give the value of a body that is XML; it is shown as it is sent. */
function written(schemas: Page['schemas'], { media, type }: BodyType, example: Example): Example {
  const isValue = typeof example.value === 'object' && isSmall(example.value) && !isJson(type);
  const text = isValue ? bodyText(schemas, media, type, example.value) : null;
  return text === null ? example : { ...example, value: text };
}

/** A body made from its schema, as JSON or as XML: the latter of the value that the author gives for another media type. */
function generated(schemas: Page['schemas'], { media, type }: BodyType): Example[] {
  if (media.schema === undefined) return [];
  const given = media.examples.map(({ value }) => value).find((one) => typeof one === 'object' && isSmall(one));
  const isOfJson = isJson(type) || type === '*/*';
  const value = isOfJson ? sampleOf(schemas, media.schema, 'response') : bodyText(schemas, media, type, given);
  return value !== null && (typeof value === 'object' || !isOfJson) ? [{ name: '', value, type }] : [];
}

/** The status of a response, with its class: 2 to 5, or x for a name such as `default`. */
export function statusHtml(status: string): Html {
  return markup`<b class="status s${/^[1-5]/.exec(status)?.[0] ?? 'x'}">${nameText(status, 20)}</b>`;
}
