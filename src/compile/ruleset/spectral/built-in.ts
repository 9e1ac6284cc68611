import { readFileSync } from 'node:fs';

type Ruleset = Readonly<Record<string, unknown>>;

/**
 * A ruleset as Spectral publishes it: its names, places, severities and requirements. Rules for documents that are not
 * stored here (AsyncAPI, Arazzo) have only their names, so that rulesets can configure them.
 */
function read(name: string): Ruleset {
  const url = new URL(`../../../../content/rulesets/spectral-${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as Ruleset;
}

const [oas, owasp] = [read('oas'), read('owasp')];

/** The name of the npm package with the OWASP set, and the URLs of it that its documentation names. */
const owaspPackage = '@stoplight/spectral-owasp-ruleset';
const owaspUrls = ['', '@2.0.1'].map((version) => `https://unpkg.com/${owaspPackage}${version}/dist/ruleset.mjs`);

/** The rulesets that can be extended by name. */
export const builtInRulesets: ReadonlyMap<string, Ruleset> = new Map([
  ['spectral:oas', oas],
  ['vacuum:oas', oas],
  ...[owaspPackage, ...owaspUrls].map((name): [string, Ruleset] => [name, owasp]),
  ['spectral:asyncapi', read('asyncapi')],
  ['spectral:arazzo', read('arazzo')],
]);
