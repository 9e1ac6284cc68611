import { type FormCodes, facts } from '../../console/pages.ts';
import { fitsTheme, themeFiles } from '../model/theme.ts';
import type { Field } from '../../server/v1/described-field.ts';
import { perform, type ConsoleRequest } from '../../console/console-request.ts';

const sitePath = '/sites/:site';

/** The code of forms about documentation sites. */
export const siteCodes: FormCodes = {
  [`${sitePath}/preview`]: {
    show: ({ body }, { params }) => ({
      title: `Preview of ${params['site']}`,
      lead: `It expires on ${String(body['expiresAt']).slice(0, 10)}. Later changes do not show in it: make another preview then.`,
      actions: [{ text: 'Back to the site', href: sitePath }],
      sections: [
        { title: 'Open it', facts: facts([['Address', { text: 'Open the preview', href: String(body['url']) }]]) },
      ],
      secret: {
        label: 'Address',
        text: String(body['url']),
        advice: 'It is not shown again. Send it to whoever should look.',
      },
    }),
  },
  [`${sitePath}/deployments/:deployment/publish`]: { fixed: ({ params }) => ({ deployment: params['deployment'] }) },
  [`${sitePath}/theme`]: { complete: offerFiles },
};

async function offerFiles(request: ConsoleRequest): Promise<Record<string, Partial<Field>>> {
  const files = await filesOf(request);
  const fitting = (name: (typeof themeFiles)[number]) => files.filter((path) => fitsTheme(name, path));
  return Object.fromEntries(
    themeFiles.map((name) => [
      `/theme/${name}`,
      { options: fitting(name).map((path) => ({ value: path, text: path })) },
    ]),
  );
}

/** The most pages of the list of files that are read to offer some of them. */
const maxLists = 20;

async function filesOf(request: ConsoleRequest): Promise<string[]> {
  const files: string[] = [];
  let cursor: string | null = '';
  for (let list = 0; list < maxLists && cursor !== null; list++) {
    const query: Record<string, string> = { limit: '100', ...(cursor !== '' && { cursor }) };
    const { body } = await perform(request, 'listSiteFiles', { query });
    files.push(...body.items.map(({ path }) => path));
    cursor = body.next;
  }
  return files;
}
