import type { Site } from '../site.ts';

/** A page with one message: something is missing, was rejected, or is done. */
export interface Message {
  title: string;
  /** A paragraph of plain text. */
  text: string;
  /** The HTTP status, such as `404`. Absent if nothing went wrong. */
  status?: number;
  /** What the reader can do next, the most likely first. */
  actions?: { text: string; href: string }[];
  /** The versions that can be read instead. */
  versions?: { text: string; href: string }[];
  /** What to report to the operator of the registry. */
  reference?: string;
  /** More about this kind of message. */
  about?: string;
  /** Seconds until the page reloads itself. */
  reload?: number;
  /** A button that changes something, and where it is sent. */
  form?: { text: string; action: string };
}

export function messagePage(site: Site, message: Message): string {
  return site.page('message', {
    actions: [],
    versions: [],
    reference: null,
    about: null,
    status: null,
    reload: null,
    form: null,
    ...message,
    hidden: true,
  });
}

/** Who sees the page for signing in and out. */
export interface AccountView {
  /** Null: nobody is signed in. */
  who: string | null;
  /** The organizations where they have rights, each with these in words, and whether they may publish there. */
  organizations: { org: string; rights: string; publishes: boolean }[];
  /** Whether they may publish something somewhere. */
  mayPublish: boolean;
  /** Whether people sign in with a key. */
  takesKeys: boolean;
  /** Whether the person can have keys of their own. */
  hasKeys: boolean;
  /** Whether they may create organizations. */
  mayCreate: boolean;
  /** The identity providers, where there are several. */
  providers: readonly { name: string; title: string }[];
  /** The token of the link that signs in whoever runs the registry; null: another page. */
  link: string | null;
  /** Whether the server printed a link that signs in whoever runs it. */
  hasLink: boolean;
  hasFailed: boolean;
  /** Path to return to after sign-in. */
  returnTo: string;
}

/** The page for signing in and out. Shows who is signed in, and what they may do where. */
export function accountPage(site: Site, view: AccountView): string {
  const { links } = site;
  const isSignedIn = view.who !== null;
  const { returnTo, takesKeys } = view;
  const login = `${links.path('/login')}?returnTo=${encodeURIComponent(returnTo)}`;
  return site.page('account', {
    title: view.link !== null ? 'Sign in as the operator' : isSignedIn ? 'You are signed in' : 'Sign in',
    crumbs: [{ text: 'Account' }],
    hidden: true,
    styles: ['console.css'],
    scripts: ['console.js'],
    ...view,
    isSignedIn,
    organizations: view.organizations.map((each) => ({ ...each, href: links.path(`/console/${each.org}`) })),
    keys: view.hasKeys ? links.path('/console/-/keys') : null,
    start: links.path('/console/new'),
    newOrganization: view.mayCreate ? links.path('/console/-/organizations/new') : null,
    providers: view.providers.map(({ name, title }) => ({ title, href: `${login}&provider=${name}` })),
    signIn: takesKeys ? links.path('/login') : login,
    signInLink: links.path('/login/link'),
    signOut: links.path('/logout'),
  });
}

/** The explanation of one kind of problem. */
export interface ProblemKind {
  code: string;
  status: number;
  title: string;
  /** Plain text; `…` marks code. */
  meaning: string;
}

/** The list of every kind of problem. */
export function problemsPage(site: Site, kinds: readonly ProblemKind[]): string {
  return site.page('problems', {
    title: 'Problems',
    crumbs: [{ text: 'Problems' }],
    canonical: `${site.url}/problems`,
    kinds: kinds.map((kind) => ({
      ...kind,
      parts: codeParts(kind.meaning),
      href: site.links.path(`/problems/${kind.code}`),
    })),
  });
}

/** The page at the URL of a problem type. */
export function problemPage(site: Site, kind: ProblemKind): string {
  return site.page('problem', {
    ...kind,
    crumbs: [{ text: 'Problems', href: site.links.path('/problems') }, { text: kind.code }],
    canonical: `${site.url}/problems/${kind.code}`,
    parts: codeParts(kind.meaning),
  });
}

function codeParts(text: string): { text: string; isCode: boolean }[] {
  return text.split('`').map((part, index) => ({ text: part, isCode: index % 2 === 1 }));
}
