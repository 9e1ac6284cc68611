import { RegistryError } from './errors.ts';

/** `user:password@host:path`, which git-clone(1) does not know, and which is stored all the same. */
const scpWithPassword = /^([^@/:\s]+):[^@/]*@(?=[^/:]+:)/;
const userinfo = /(?<![a-z0-9+.-])([a-z][a-z0-9+.-]*):([\\/]{2})([^\s/?#"'<>\\]*)@/gi;

/** Whether the URL of a repository names a password, or a user where that is a credential: everywhere but by ssh. */
export function hasCredential(url: string): boolean {
  const parsed = URL.parse(url);
  if (parsed !== null && (parsed.password !== '' || (parsed.username !== '' && parsed.protocol !== 'ssh:')))
    return true;
  return withoutCredential(url) !== url;
}

/** The text with every credential in a URL left out, and of a text that is such an address itself. */
export function withoutCredential(text: string): string {
  if (!text.includes('@')) return text;
  return text.replace(scpWithPassword, '$1@').replace(userinfo, (_, scheme: string, slashes: string, info: string) => {
    const user = /^ssh$/i.test(scheme) ? info.replace(/:.*$/s, '@') : '';
    return `${scheme}:${slashes}${user === '' || user.endsWith('@') ? user : `${user}@`}`;
  });
}

/** The credentials in the URLs of a text, each with its `@`. */
export function credentialsIn(text: string): string[] {
  const match = scpWithPassword.exec(text)?.[0];
  return [
    ...[...text.matchAll(userinfo)].map(([, , , info]) => `${info}@`),
    ...(match === undefined ? [] : [match]),
  ].filter((credential) => credential !== '@' && withoutCredential(text) !== text);
}

/**
 * Throws `malformed` if the URL of a repository contains a credential, or a query or fragment, which may be one
 * (`?private_token=…`): it would be stored for ever, and shown to everybody who may read the repository. `where`: the key of
 * the configuration that has it. The message does not contain the URL.
 */
export function assertNoCredential(url: string, where: string | null = null): void {
  const what = where === null ? 'A repository URL must not' : `${where}: a repository URL must not`;
  const malformed = (says: string) => new RegistryError('malformed', `${what} ${says}`);
  if (hasCredential(url))
    throw malformed(
      'contain a user name or password. Put the token into an environment variable, name that under `credentials` in the configuration, and name the credential beside the URL.',
    );
  if (/^(?:https?|ssh):[^?#]*[?#]/i.test(url)) throw malformed('have a query or a fragment.');
}
