import { isRegistryError, RegistryError } from '../../model/errors.ts';
import type { Report } from '../../model/problem.ts';
import { problemTypes } from '../../server/error-answers.ts';
import { sendCheckedForm, type CheckResult } from '../../console/checked-form.ts';
import type { Field, Typed } from '../../console/fields.ts';
import { reportOf } from '../../console/publish-page.ts';
import { editPath } from './site-editor.ts';
import { assertMayInSite } from './site-views.ts';
import { perform, here, type ConsoleRequest } from '../../console/console-request.ts';

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
  assertMayInSite(request, 'publish');
  sendPublish(request, { ...(await deploy(request, true)), ...(error !== null && { error }) });
}

/** Publishes the drafts of a site, or only checks them. */
export async function submitSitePublish(request: ConsoleRequest, typed: Typed): Promise<void> {
  assertMayInSite(request, 'publish');
  const isCheck = typed['do']?.[0] === 'check';
  const result = await deploy(request, isCheck, typed['once']?.[0] ?? '');
  if (isCheck || result.error) return sendPublish(request, result);
  request.response.redirect(303, `${here(request, '/sites/:site')}?done=${encodeURIComponent(sitePublishPath)}`);
}

async function deploy(request: ConsoleRequest, dryRun: boolean, once = ''): Promise<CheckResult> {
  try {
    const { body } = await perform<{ report: Report }>(request, 'deploySite', {
      body: { dryRun },
      ...(!dryRun && /^[0-9a-z]{20}$/.test(once) && { once }),
    });
    const { report } = body;
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
  assertMayInSite(request, 'publish');
  sendUpload(request, typed, { error });
}

/** Saves a file of a site. A file that is there already is replaced. */
export async function submitUpload(request: ConsoleRequest, typed: Typed, form: FormData): Promise<void> {
  const given = form.get('/file');
  try {
    assertMayInSite(request, 'publish');
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
