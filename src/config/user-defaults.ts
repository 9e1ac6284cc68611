import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { RegistryError } from '../model/errors.ts';
import { readEnvironment } from './environment.ts';

const line = /^(registry|org):[ \t]*(\S+)$/;

/** The registry and the organization of who runs a command: by the environment, else by `~/.stelerc`. */
export function readUserDefaults(): { registry: string | undefined; org: string | undefined } {
  const { registry, org } = readEnvironment();
  const { registry: written, org: ofFile } = registry === undefined || org === undefined ? readFile() : {};
  return { registry: registry ?? written, org: org ?? ofFile };
}

/**
 * What `~/.stelerc` says, a line each: `registry: https://contracts.example.com` and `org: acme`. Only the home
 * folder is asked: a file in a repository that somebody cloned would choose who gets their key. Throws `malformed`
 * with the line.
 */
function readFile(): { registry?: string; org?: string } {
  const file = join(homedir(), '.stelerc');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return {};
  }
  const lines = text.split('\n').map((each) => each.replace(/(?:^|\s)#.*/, '').trim());
  const pairs = lines.flatMap((each, index) => {
    if (each === '') return [];
    const [, name, value] = line.exec(each) ?? [];
    if (name !== undefined) return [[name, value]];
    const advice = 'Use registry: https://contracts.example.com and org: acme, each on a line.';
    throw new RegistryError('malformed', `${file}:${index + 1} is not a setting. ${advice}`);
  });
  return Object.fromEntries(pairs) as ReturnType<typeof readFile>;
}
