import { escapeHtml } from '../../model/escape.ts';
import { isRegistryError, tooLarge, malformed } from '../../model/errors.ts';
import { createReport, type Report } from '../../model/problem.ts';
import { isPagePath } from '../model/page-path.ts';
import { headOf } from '../registry/drafts.ts';
import { problemTypes } from '../../server/error-answers.ts';
import { isCheck, reportOf, type FormPage, type CheckResult } from '../../console/form-page.ts';
import { firstOf } from '../../console/fields.ts';
import type { Field, Typed } from '../../server/v1/described-field.ts';
import { assertMay, perform, here, hereAfter, type ConsoleRequest } from '../../console/console-request.ts';

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

/**
 * The editor of a page: `?file=guide/start.md`, or none for a new page. If somebody else saved it meanwhile, shows both
 * texts and saves nothing.
 */
export const editorPage: FormPage = {
  path: '/sites/:site/edit',
  guard: (request) => assertMay(request, 'publish'),
  async open(request, typed) {
    if (typed !== null) return {};
    await perform(request, 'getSite');
    const file = request.query.get('file');
    if (file === null) {
      const { body } = await perform(request, 'listSitePages', { query: { limit: '1' } });
      return body.items.length === 0 ? { typed: { '/path': ['index.md'], '/text': [newPage] } } : {};
    }
    const { text, etag } = await readPage(request, file);
    return { typed: { '/text': [text] }, etag };
  },
  fields: ({ query }) => (query.has('file') ? [textField] : [pathField, textField]),
  form(request) {
    const file = request.query.get('file');
    return {
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
    };
  },
  async submit(request, typed) {
    const { file, isNew } = fileIn(request, typed);
    const bytes = Buffer.from(firstOf(typed, '/text'));
    await perform(request, 'getSite');
    if (!isPagePath(file)) throw malformed('Name the page: a path of letters, digits, - and _ that ends in .md.');
    if (isCheck(typed)) return previewOf(request, file, bytes);
    await perform({ ...request, params: { ...request.params, file } }, 'putSiteFile', {
      body: {},
      document: bytes,
      ifMatch: isNew ? absent : firstOf(typed, 'etag'),
    });
    return hereAfter(request, '/sites/:site', editorPage.path);
  },
  async explain(request, typed, error) {
    if (error.code !== 'precondition_failed') return {};
    const { file, isNew } = fileIn(request, typed);
    if (isNew) return { error: `The site has ${file} already. Choose another name, or edit that page.` };
    const now = await readPage(request, file).catch(() => null);
    if (now === null)
      return {
        error:
          'Somebody deleted this page while you were editing. Yours is below: save again to bring the page back with it.',
        etag: absent,
      };
    return {
      error:
        'Somebody changed this page while you were editing. Yours is below: look at theirs first, then save again to replace it.',
      // Their text, to be compared with one's own.
      preview: `<h3>Theirs</h3><pre><code>${escapeHtml(now.text)}</code></pre>`,
      etag: now.etag,
    };
  },
  done: 'The page is saved. Publish the site so that readers see it.',
};

function fileIn({ query }: ConsoleRequest, typed: Typed): { file: string; isNew: boolean } {
  const named = query.get('file');
  return { file: named ?? firstOf(typed, '/path').trim(), isNew: named === null };
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
    throw tooLarge(`The page has ${bytes.byteLength} bytes; the limit is ${config.limits.fileBytes}.`);
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

/** Publishes the drafts of a site. The form shows what that would find. */
export const sitePublishPage: FormPage = {
  path: '/sites/:site/publish',
  guard: (request) => assertMay(request, 'publish'),
  open: (request) => deploy(request, true),
  fields: () => [],
  form: (request) => ({
    title: `Publish @${request.org}/sites/${request.params['site']}`,
    lead: [
      'All pages and files as they are now become one deployment. Earlier deployments stay, and can be published again.',
    ],
    check: 'Check again',
    cancel: here(request, '/sites/:site'),
  }),
  async submit(request, typed) {
    const result = await deploy(request, isCheck(typed), firstOf(typed, 'once'));
    return isCheck(typed) || result.error ? result : hereAfter(request, '/sites/:site', sitePublishPage.path);
  },
  done: 'The site is published.',
};

async function deploy(request: ConsoleRequest, dryRun: boolean, once = ''): Promise<CheckResult> {
  try {
    const { body } = await perform(request, 'deploySite', { body: { dryRun }, ...(!dryRun && { once }) });
    const report = body.report as Report;
    const verdict = { text: 'This can be published. Readers see it at once.', tone: 'good' as const };
    return { report: report.problems.length === 0 ? null : report, verdict };
  } catch (error) {
    if (!isRegistryError(error, 'refused') && !isRegistryError(error, 'conflict')) throw error;
    return { error: error.message, report: reportOf(error), status: dryRun ? 200 : problemTypes[error.code].status };
  }
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

/** Saves a file of a site, in the place of one that is there already. A browser keeps no chosen file, so it is chosen again. */
export const uploadPage: FormPage = {
  path: '/sites/:site/upload',
  guard: (request) => assertMay(request, 'publish'),
  fields: () => uploadFields,
  form: (request) => ({
    title: 'Upload a file',
    lead: ['A file of the same path is replaced. Readers see it when the site is published next.'],
    submit: 'Upload',
    cancel: here(request, '/sites/:site'),
  }),
  async submit(request, typed, { form }) {
    const given = form.get('/file');
    if (!(given instanceof Blob) || given.size === 0) throw malformed('Choose a file.');
    const file = firstOf(typed, '/path').trim() || given.name;
    const document = Buffer.from(await given.arrayBuffer());
    await perform({ ...request, params: { ...request.params, file } }, 'putSiteFile', { body: {}, document });
    return hereAfter(request, '/sites/:site', uploadPage.path);
  },
  explain: async (_request, _typed, { code }) =>
    code === 'not_found'
      ? {
          error:
            'A site cannot have a file of this name: use letters, digits, - and _, and an ending that says what it is.',
        }
      : {},
  done: 'The file is saved. Publish the site so that readers see it.',
};
