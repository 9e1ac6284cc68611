import { isRegistryError, onRefusal, type RegistryError } from '../model/errors.ts';
import { problemTypes } from '../server/error-answers.ts';
import type { Field } from '../server/v1/described-field.ts';
import { here, hereAfter, perform, type Answered, type ConsoleRequest } from './console-request.ts';
import { isCheck, type FormPage } from './form-page.ts';
import { type FormCodes, timeCell, type ListCode } from './pages.ts';
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

const devicePath = '/device';

const codeField: Field = {
  name: '/code',
  label: 'Code',
  kind: 'line',
  hint: 'The program shows it, such as BCDF-GHJK.',
  isRequired: true,
  maxLength: 20,
};

/** The program that the address names by its code; why there is none; null: no code yet. */
async function deviceOf(request: ConsoleRequest): Promise<Answered<'getDevice'> | RegistryError | null> {
  if (!request.query.has('code')) return null;
  const pass = (error: RegistryError) => error;
  const asked = perform(request, 'getDevice').then(({ body }) => body);
  return asked.catch(onRefusal('not_found', pass)).catch(onRefusal('forbidden', pass));
}

/** Where a person answers a program that asks for a key (`stele login`): asks for its code, then whether it gets a key. */
export const devicePage: FormPage = {
  path: devicePath,
  done: 'The program gets its key within seconds. You can close this page.',
  async open(request) {
    const device = await deviceOf(request);
    if (!isRegistryError(device)) return {};
    const typed = { '/code': [request.query.get('code')!] };
    return { typed, error: device.message, status: problemTypes[device.code].status };
  },
  async fields(request) {
    const device = await deviceOf(request);
    return device === null || isRegistryError(device) ? [codeField] : [];
  },
  async form(request) {
    const device = await deviceOf(request);
    const common = { isLive: false, cancel: here(request, '/keys') };
    if (device === null || isRegistryError(device))
      return {
        ...common,
        title: 'Give a program a key',
        lead: ['Enter the code that the program shows.'],
        submit: 'Continue',
      };
    const { name, scopes, organizations, address, askedAt } = device;
    const where = organizations?.map((org) => `@${org}`).join(', ') ?? 'all your organizations';
    const code = request.query.get('code')!.toUpperCase();
    return {
      ...common,
      title: `Give “${name}” a key?`,
      lead: [
        `A program requests a personal key. It may then do this in your name: ${scopes.join(', ')}, in ${where}.`,
        `The request came from the address ${address ?? 'of this computer'}, ${timeCell(askedAt).text}, and the program must show the code ${code}. If you did not start it yourself just now, refuse: the person who sent you here would get your rights.`,
      ],
      submit: 'Give it a key',
      check: 'Refuse',
    };
  },
  async submit(request, typed) {
    const named = typed['/code']?.[0]?.trim();
    if (named !== undefined) return `${here(request, devicePath)}?code=${encodeURIComponent(named)}`;
    const granted = !isCheck(typed);
    await perform(request, 'decideDevice', { body: { granted } });
    return hereAfter(request, '/keys', granted ? devicePath : deviceRefused.path);
  },
};

/** What was done where the program gets no key. */
export const deviceRefused = { path: `${devicePath}/refused`, done: 'The program gets no key.' };

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
