import { escapeHtml } from '../../model/escape.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import { createReport, type Report } from '../../model/problem.ts';
import { isPagePath } from '../model/page-path.ts';
import { headOf } from '../registry/drafts.ts';
import { problemTypes } from '../../server/error-answers.ts';
import { sendCheckedForm, type CheckResult } from '../../console/show.ts';
import { faultsIn, type Field, type Typed } from '../../console/fields.ts';
import { assertMay, perform, here, type ConsoleRequest } from '../../console/console-request.ts';
import { reportOf } from '../../console/publish-page.ts';

/** The editor of a page: `?file=guide/start.md`, or none for a new page. */
export const editPath = '/sites/:site/edit';

/** The entity tag of a page that does not exist. */
const absent = '"0"';

const newPage = '---\ntitle: \n---\n\n';

const pathField: Field = {
  name: '/path',
  label: 'File',
  kind: 'line',
  isRequired: true,
  hint: 'Its path in the site. index.md is the first page.',
  placeholder: 'guide/start.md',
  maxLength: 200,
};

const textField: Field = {
  name: '/text',
  label: 'Page, in Markdown',
  kind: 'text',
  hint: 'The lines between --- are its settings: title, description, order.',
  rows: 24,
  initial: newPage,
};

/** Shows the editor: with the page as it is, or with what was typed. */
export async function showEditor(
  request: ConsoleRequest,
  typed: Typed | null = null,
  error: string | null = null,
): Promise<void> {
  assertMay(request, 'publish');
  if (typed !== null) return send(request, typed, { error }, typed['etag']?.[0] ?? null);
  await perform(request, 'getSite');
  const file = request.query.get('file');
  if (file === null) {
    const { body } = await perform(request, 'listSitePages', { query: { limit: '1' } });
    const first: Typed = { '/path': ['index.md'], '/text': [newPage] };
    return send(request, body.items.length === 0 ? first : null, {}, null);
  }
  const { text, etag } = await readPage(request, file);
  send(request, { '/text': [text] }, {}, etag);
}

/** Previews a page, or saves it. If somebody else saved it meanwhile, shows both texts and saves nothing. */
export async function submitEditor(request: ConsoleRequest, typed: Typed): Promise<void> {
  const { query } = request;
  const file = query.get('file') ?? typed['/path']?.[0]?.trim() ?? '';
  const isNew = query.get('file') === null;
  const etag = typed['etag']?.[0] ?? '';
  const bytes = Buffer.from(typed['/text']?.[0] ?? '');
  try {
    assertMay(request, 'publish');
    await perform(request, 'getSite');
    if (!isPagePath(file))
      throw new RegistryError('malformed', 'Name the page: a path of letters, digits, - and _ that ends in .md.');
    if (typed['do']?.[0] === 'check') return send(request, typed, await previewOf(request, file, bytes), etag);
    await perform({ ...request, params: { ...request.params, file } }, 'putSiteFile', {
      body: {},
      document: bytes,
      ifMatch: isNew ? absent : etag,
    });
    request.response.redirect(303, `${here(request, '/sites/:site')}?done=${encodeURIComponent(editPath)}`);
  } catch (error) {
    if (!isRegistryError(error)) throw error;
    const isOutdated = error.code === 'precondition_failed';
    const now = isOutdated && !isNew ? await readPage(request, file).catch(() => null) : null;
    const text = !isOutdated
      ? error.message
      : isNew
        ? `The site has ${file} already. Choose another name, or edit that page.`
        : now === null
          ? 'Somebody deleted this page while you were editing. Yours is below: save again to bring the page back with it.'
          : 'Somebody changed this page while you were editing. Yours is below: look at theirs first, then save again to replace it.';
    const result: CheckResult = {
      error: text,
      faults: faultsIn(error, [pathField, textField]),
      // Their text, to be compared with one's own.
      ...(now !== null && { preview: theirs(now.text) }),
      status: typed['do']?.[0] === 'check' ? 200 : problemTypes[error.code].status,
    };
    send(request, typed, result, isOutdated && !isNew ? (now?.etag ?? absent) : etag);
  }
}

function theirs(text: string): string {
  return `<h3>Theirs</h3><pre><code>${escapeHtml(text)}</code></pre>`;
}

async function readPage(request: ConsoleRequest, page: string): Promise<{ text: string; etag: string }> {
  const { body, headers } = await perform({ ...request, params: { ...request.params, page } }, 'getSitePage');
  const { title, markdown, api } = body;
  return { text: title === null ? markdown : headOf({ title, api }) + markdown, etag: headers!['ETag']! };
}

/** The page as the sandbox renders it for readers, and what is wrong with it. */
async function previewOf({ context, org }: ConsoleRequest, path: string, bytes: Buffer): Promise<CheckResult> {
  const { compiler, config } = context.registry;
  if (bytes.byteLength > config.limits.fileBytes)
    throw new RegistryError(
      'too_large',
      `The page has ${bytes.byteLength} bytes; the limit is ${config.limits.fileBytes}.`,
    );
  const [made] = await compiler.renderPages([{ path, bytes }], config.limits, { org });
  const { page, problems } = made!;
  const report = problems.length === 0 ? null : createReport([...problems]);
  if (page === null) return { report, error: 'This page cannot be published: see what was found.' };
  const html = page.content.html.flatMap((part, index) => {
    const embed = index === 0 ? undefined : page.facts.embeds[index - 1];
    return [
      ...(embed ? [`<p class="empty">The reference of ${escapeHtml(embed.coordinate)} appears here.</p>`] : []),
      part,
    ];
  });
  return { report, preview: `<h1>${escapeHtml(page.facts.title)}</h1>${html.join('')}` };
}

function send(request: ConsoleRequest, typed: Typed | null, result: CheckResult, etag: string | null): void {
  const file = request.query.get('file');
  const form = {
    typed,
    title: file === null ? 'New page' : `Edit ${file}`,
    lead: ['Readers see it when the site is published next.'],
    submit: 'Save',
    check: 'Preview',
    findings: 'Preview',
    waiting: 'The page appears here as readers will see it.',
    styles: ['docs.css', 'documentation.css'],
    cancel: here(request, '/sites/:site'),
    note: {
      text: 'To see the saved pages together as readers will, ',
      link: 'preview the site',
      href: here(request, '/sites/:site/preview'),
    },
    etag: etag === '' ? null : etag,
  };
  sendCheckedForm(request, file === null ? [pathField, textField] : [textField], form, result);
}

export const sitePublishPath = '/sites/:site/publish';
export const uploadPath = '/sites/:site/upload';

/** What was done, by the path of its form. */
export const siteDone: ReadonlyMap<string | null, string> = new Map([
  [editPath, 'The page is saved. Publish the site so that readers see it.'],
  [uploadPath, 'The file is saved. Publish the site so that readers see it.'],
  [sitePublishPath, 'The site is published.'],
]);

/** Shows what publishing the site would find. */
export async function showSitePublish(
  request: ConsoleRequest,
  _typed?: Typed,
  error: string | null = null,
): Promise<void> {
  assertMay(request, 'publish');
  sendPublish(request, { ...(await deploy(request, true)), ...(error !== null && { error }) });
}

/** Publishes the drafts of a site, or only checks them. */
export async function submitSitePublish(request: ConsoleRequest, typed: Typed): Promise<void> {
  assertMay(request, 'publish');
  const isCheck = typed['do']?.[0] === 'check';
  const result = await deploy(request, isCheck, typed['once']?.[0] ?? '');
  if (isCheck || result.error) return sendPublish(request, result);
  request.response.redirect(303, `${here(request, '/sites/:site')}?done=${encodeURIComponent(sitePublishPath)}`);
}

async function deploy(request: ConsoleRequest, dryRun: boolean, once = ''): Promise<CheckResult> {
  try {
    const { body } = await perform(request, 'deploySite', {
      body: { dryRun },
      ...(!dryRun && /^[0-9a-z]{20}$/.test(once) && { once }),
    });
    const report = body.report as Report;
    const verdict = { text: 'This can be published. Readers see it at once.', tone: 'good' as const };
    return { report: report.problems.length === 0 ? null : report, verdict };
  } catch (error) {
    if (!isRegistryError(error, 'refused') && !isRegistryError(error, 'conflict')) throw error;
    return { error: error.message, report: reportOf(error), status: dryRun ? 200 : problemTypes[error.code].status };
  }
}

function sendPublish(request: ConsoleRequest, result: CheckResult): void {
  const form = {
    typed: null,
    title: `Publish @${request.org}/sites/${request.params['site']}`,
    lead: [
      'All pages and files as they are now become one deployment. Earlier deployments stay, and can be published again.',
    ],
    check: 'Check again',
    cancel: here(request, '/sites/:site'),
  };
  sendCheckedForm(request, [], form, result);
}

const uploadFields: readonly Field[] = [
  { name: '/file', label: 'File', kind: 'file', isRequired: true, hint: 'An image, a font, data, or a page.' },
  {
    name: '/path',
    label: 'Path in the site',
    kind: 'line',
    hint: "Empty: the file's name.",
    placeholder: 'images/logo.svg',
    maxLength: 200,
  },
];

/** Shows the form that uploads a file of a site. A browser keeps no chosen file, so it is chosen again. */
export async function showUpload(
  request: ConsoleRequest,
  typed: Typed | null = null,
  error: string | null = null,
): Promise<void> {
  assertMay(request, 'publish');
  sendUpload(request, typed, { error });
}

/** Saves a file of a site. A file that is there already is replaced. */
export async function submitUpload(request: ConsoleRequest, typed: Typed, form: FormData): Promise<void> {
  const given = form.get('/file');
  try {
    assertMay(request, 'publish');
    if (!(given instanceof Blob) || given.size === 0) throw new RegistryError('malformed', 'Choose a file.');
    const file = typed['/path']?.[0]?.trim() || given.name;
    const document = Buffer.from(await given.arrayBuffer());
    await perform({ ...request, params: { ...request.params, file } }, 'putSiteFile', { body: {}, document });
    request.response.redirect(303, `${here(request, '/sites/:site')}?done=${encodeURIComponent(uploadPath)}`);
  } catch (error) {
    if (!isRegistryError(error)) throw error;
    const { code, message } = error;
    const text =
      code === 'not_found'
        ? 'A site cannot have a file of this name: use letters, digits, - and _, and an ending that says what it is.'
        : message;
    sendUpload(request, typed, { error: text, status: problemTypes[code].status });
  }
}

function sendUpload(request: ConsoleRequest, typed: Typed | null, result: CheckResult): void {
  const form = {
    typed,
    title: 'Upload a file',
    lead: ['A file of the same path is replaced. Readers see it when the site is published next.'],
    submit: 'Upload',
    check: null,
    isLive: false,
    cancel: here(request, '/sites/:site'),
  };
  sendCheckedForm(request, uploadFields, form, result);
}
