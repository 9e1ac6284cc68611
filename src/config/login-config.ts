import type { FilledLogin, FilledTrustedPublisher } from './written.ts';

/** How people sign in: the first identity provider, and what is the same for all. */
export type LoginConfig = FilledLogin;

/** An identity provider. Its people and groups are others than those of the same names at another. */
export type ProviderConfig = NonNullable<LoginConfig['others']>[string];

/** All identity providers: the first, whose name is empty, then the others. */
export function providersOf(login: LoginConfig | null): (ProviderConfig & { name: string })[] {
  if (login === null) return [];
  return [{ ...login, name: '' }, ...Object.entries(login.others ?? {}).map(([name, other]) => ({ ...other, name }))];
}

/** A CI job whose token is exchanged for a key. Absent members are not checked. */
export type TrustedPublisher = FilledTrustedPublisher;
