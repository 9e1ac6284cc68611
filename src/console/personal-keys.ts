import { isRegistryError } from '../model/errors.ts';
import { newId } from '../registry/registry.ts';
import { problemTypes } from '../server/error-answers.ts';
import { here, hereAfter, perform, type ConsoleRequest } from './console-request.ts';
import { isCheck } from './form-page.ts';
import type { Field, Typed } from '../server/v1/described-field.ts';
import { showFields } from './fields.ts';
import { type FormCodes, timeCell, type ListCode } from './pages.ts';
import { formPage, sendPage, type ShownForm } from './show.ts';
import { listOfKeys } from './keys.ts';
import { resourceTypes } from '../model/address.ts';
import { addressOf } from '../registry/keys/watches.ts';

/** The keys of the person who is signed in. */
export const myKeyList = listOfKeys(({ id, use, scopes, organizations }) => ({
  more: id,
  may: {
    text: use === 'feeds' ? 'read feeds' : scopes.join(', '),
    more: organizations?.map((org) => `@${org}`).join(', ') ?? 'in all your organizations',
  },
  actions: ['Revoke'],
}));

/** Where a person answers a program that asks for a key (`stele login`). */
export const devicePath = '/device';

const codeField: Field = {
  name: '/code',
  label: 'Code',
  kind: 'line',
  hint: 'The program shows it, such as BCDF-GHJK.',
  isRequired: true,
  maxLength: 20,
};

/** Asks for the code; with the code, whether the program gets a key. */
export async function showDevice(
  request: ConsoleRequest,
  typed: Typed | null = null,
  why: string | null = null,
): Promise<void> {
  const code = request.query.get('code');
  if (code === null) return sendDevice(request, { fields: showFields([codeField], typed, new Map()), error: why });
  try {
    const { body } = await perform(request, 'getDevice');
    const { name, scopes, organizations, address, askedAt } = body;
    const where = organizations?.map((org) => `@${org}`).join(', ') ?? 'all your organizations';
    sendDevice(request, {
      title: `Give “${name}” a key?`,
      lead: [
        `A program requests a personal key. It may then do this in your name: ${scopes.join(', ')}, in ${where}.`,
        `The request came from the address ${address ?? 'of this computer'}, ${timeCell(askedAt).text}, and the program must show the code ${code.toUpperCase()}. If you did not start it yourself just now, refuse: the person who sent you here would get your rights.`,
      ],
      submit: 'Give it a key',
      check: 'Refuse',
      error: why,
    });
  } catch (error) {
    if (!isRegistryError(error, 'not_found') && !isRegistryError(error, 'forbidden')) throw error;
    const { status } = problemTypes[error.code];
    sendDevice(
      request,
      { fields: showFields([codeField], { '/code': [code] }, new Map()), error: error.message },
      status,
    );
  }
}

/** Goes on to the question, or decides it. */
export async function submitDevice(request: ConsoleRequest, typed: Typed): Promise<void> {
  const named = typed['/code']?.[0]?.trim();
  if (named !== undefined) {
    return request.response.redirect(303, `${here(request, devicePath)}?code=${encodeURIComponent(named)}`);
  }
  const granted = !isCheck(typed);
  try {
    await perform(request, 'decideDevice', { body: { granted } });
  } catch (error) {
    if (!isRegistryError(error)) throw error;
    return showDevice(request, null, error.message);
  }
  request.response.redirect(303, hereAfter(request, '/keys', granted ? devicePath : `${devicePath}/refused`));
}

/** What was decided, in a sentence, by what the address says. */
export const deviceDone = [
  { path: devicePath, done: 'The program gets its key within seconds. You can close this page.' },
  { path: `${devicePath}/refused`, done: 'The program gets no key.' },
];

function sendDevice(request: ConsoleRequest, form: Partial<ShownForm>, status = 200): void {
  const html = formPage(request, {
    title: 'Give a program a key',
    lead: ['Enter the code that the program shows.'],
    fields: [],
    submit: 'Continue',
    cancel: here(request, '/keys'),
    error: null,
    once: newId(request.context.registry),
    ...form,
  });
  sendPage(request.response, html, status);
}

const rhythms = { once: 'at once', daily: 'once a day', weekly: 'once a week' } as const;

/** What the person who is signed in gets mail about. */
export const watchList: ListCode<'listMyWatches'> = {
  async lead({ context, session: { principal } }) {
    const to = await addressOf(context.registry, `user:${principal.kind === 'key' ? '' : principal.id}`);
    if (to === null) return 'Your identity provider sent no usable mail address.';
    return `Mail goes to ${to}, about what you may read when it is sent.`;
  },
  rows: (items, request) =>
    items.map(({ id, organization, resources, events, rhythm, createdAt }) => ({
      cells: [
        { text: `@${organization}`, more: resources?.join(', ') ?? 'everything' },
        { text: events.join(', ') },
        { text: rhythms[rhythm] },
        timeCell(createdAt),
      ],
      actions: [{ text: 'End', href: here(request, '/watches/:watch/delete', { watch: id }), isDanger: true }],
    })),
};

/** The code of forms about watches. */
export const watchCodes: FormCodes = {
  '/watches/new': {
    complete: async ({ query }) => {
      const [, org, type, slug] = /^@([^/]+)\/([^/]+)\/([^/@]+)$/.exec(query.get('contract') ?? '') ?? [];
      if (org === undefined) return {};
      const isKnown = resourceTypes.some((each) => each === type) || type === 'sites';
      return { '/organization': { initial: org }, ...(isKnown && { '/resources': { initial: `${type}/${slug}` } }) };
    },
  },
  '/watches/:watch/delete': {
    about: async (request) => {
      const { body } = await perform(request, 'listMyWatches', { query: { limit: '100' } });
      const watch = body.items.find(({ id }) => id === request.params['watch']);
      return watch ? `@${watch.organization} ${watch.resources?.join(', ') ?? ''}` : '';
    },
  },
};
