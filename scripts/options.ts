/**
 * Writes the rows of `docs/options.md` anew: one for each key of the configuration, option of `stele` and operation of `/v1`. The
 * sentences stay as they are there; a new option has none yet, and `test/docs-options.test.ts` asks for it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { describeCommands } from '../src/cli/describe-commands.ts';
import { createProgram } from '../src/cli/program.ts';
import { readDescription } from '../src/server/v1/api-description.ts';
import { describeConfiguration } from '../src/site/docs/docs-configuration.ts';
import { table } from '../src/site/docs/docs-table.ts';

const file = new URL('../docs/options.md', import.meta.url);

/** Returns the page with a row for each option that there is. */
export async function writeOptions(page: string): Promise<string> {
  const needs = new Map(
    [...page.matchAll(/^\| `([^`]+)`[^|]*\|(?:[^|]*\|)? ([^|]*?) *\|$/gm)].map(([, name, need]) => [name!, need!]),
  );
  const row = (name: string, place: string[]) => [`\`${name}\``, ...place, needs.get(name) ?? ''];
  const tables: Record<string, string> = {
    configuration: table(
      ['key', 'who needs it'],
      configurationKeys().map((key) => row(key, [])),
    ),
    commands: table(
      ['option', 'of', 'who needs it'],
      [...commandOptions()].map(([name, of]) => row(name, [of])),
    ),
    operations: table(
      ['operation', 'at', 'who needs it'],
      [...operations()].map(([name, at]) => row(name, [at])),
    ),
  };
  const whole = page.replaceAll(
    /(<!-- options: (\w+) -->\n).*?(<!-- end -->)/gs,
    (_, begin: string, name: string, end: string) => `${begin}\n${tables[name]}\n\n${end}`,
  );
  return format(whole, { ...(await resolveConfig(file)), parser: 'markdown' });
}

/** Keys with a value. Organizations have the same quotas as the registry, so theirs are one row. */
function configurationKeys(): string[] {
  const keys = [...describeConfiguration().matchAll(/^\| `([^`]+)`/gm)].map(([, key]) =>
    key!.replace(/(?:\[\]|\.<name>(?:\[\])?|(?<!^credentials\.<name>)\.env)$/, ''),
  );
  const quotas = 'organizations.<name>.quotas';
  return [...new Set(keys)].filter(
    (key) =>
      key === quotas ||
      (!key.startsWith(quotas) &&
        !keys.some((other) => /^(?:\.|\[\]\.)/.test(other.slice(key.length)) && other.startsWith(key))),
  );
}

/** Options, each with its commands. */
function commandOptions(): Map<string, string> {
  const all = describeCommands(createProgram()).flatMap(({ name, options }) =>
    options.map(({ flags }) => ({ name: /--[a-z-]+/.exec(flags)![0], command: name.replace(/^stele /, '') })),
  );
  return new Map(
    [...Map.groupBy(all, ({ name }) => name)].map(([name, uses]) => [
      name,
      uses.length > 10 ? `${uses.length} commands` : uses.map(({ command }) => `\`${command}\``).join(', '),
    ]),
  );
}

/** Operations by id. Schemas and rulesets have the operations of APIs, so theirs are the same row. */
function operations(): Map<string, string> {
  const all = readDescription().operations;
  const ofApis = (path: string) =>
    path
      .replace(/^\/v1\/(?:schemas|rulesets)/, '/v1/apis')
      .replace(/\{(?:schema|ruleset)\}/, '{api}')
      .replace(/\/document$/, '/spec');
  const apis = new Set(all.map(({ method, path }) => `${method} ${path}`).filter((at) => at.includes(' /v1/apis')));
  return new Map(
    all
      .filter(({ method, path }) => path === ofApis(path) || !apis.has(`${method} ${ofApis(path)}`))
      .map(({ id, method, path }) => [id, `\`${method.toUpperCase()} ${path}\``]),
  );
}

if (import.meta.main) writeFileSync(file, await writeOptions(readFileSync(file, 'utf8')));
