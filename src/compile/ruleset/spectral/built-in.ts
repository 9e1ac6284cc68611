import { readFileSync } from 'node:fs';

type Ruleset = Readonly<Record<string, unknown>>;

/** The rules of `spectral:oas` and of the OWASP set: Spectral's names, places, severities and requirements. */
const [oas, owasp] = ['oas', 'owasp'].map(
  (name) =>
    JSON.parse(
      readFileSync(new URL(`../../../../content/rulesets/spectral-${name}.json`, import.meta.url), 'utf8'),
    ) as Ruleset,
) as [Ruleset, Ruleset];

/** The name of the npm package with the OWASP set, and the URLs of it that its documentation names. */
const owaspPackage = '@stoplight/spectral-owasp-ruleset';
const owaspUrls = ['', '@2.0.1'].map((version) => `https://unpkg.com/${owaspPackage}${version}/dist/ruleset.mjs`);

/**
 * The rulesets that can be extended by name, as Spectral defines them. Rules for documents that are
 * not stored here (AsyncAPI, Arazzo) have only their names, so that rulesets can configure them.
 */
export const builtInRulesets: ReadonlyMap<string, Ruleset> = new Map([
  ['spectral:oas', oas],
  ['vacuum:oas', oas],
  ...[owaspPackage, ...owaspUrls].map((name): [string, Ruleset] => [name, owasp]),
  ['spectral:asyncapi', named('asyncapi2', asyncapiNames())],
  ['spectral:arazzo', named('arazzo1', arazzoNames())],
]);

function named(format: string, names: readonly string[]): Ruleset {
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is a word of the format
  const rule = { given: '$', then: { function: 'defined' } };
  return { formats: [format], rules: Object.fromEntries(names.map((name) => [name, rule])) };
}

function asyncapiNames(): string[] {
  const both = [
    'channel-no-empty-parameter channel-no-query-nor-fragment channel-no-trailing-slash channel-servers',
    'headers-schema-type-object operation-description operation-security payload-unsupported-schemaFormat',
    'server-no-empty-variable server-no-trailing-slash server-not-example-com tag-description tags-alphabetical',
    'tags-uniqueness tags',
  ];
  const single = [
    'channel-parameters info-contact-properties info-contact info-description info-license-url info-license',
    'latest-version message-examples message-messageId-uniqueness operation-operationId-uniqueness',
    'operation-operationId parameter-description payload-default payload-examples payload schema-default',
    'schema-examples schema server-variables server-security servers unused-components-schema',
    'unused-components-server',
  ];
  const words = (lines: readonly string[]) => lines.flatMap((line) => line.split(' '));
  return [
    ...words([...both, ...single]).map((name) => `asyncapi-${name}`),
    ...words([...both, 'document-resolved document-unresolved']).map((name) => `asyncapi-3-${name}`),
  ];
}

function arazzoNames(): string[] {
  return [
    'document-schema workflowId-unique workflow-output-validation workflow-stepId-unique step-output-validation',
    'step-parameters-validation step-failure-actions-validation step-success-actions-validation',
    'workflow-depends-on-validation step-success-criteria-validation step-request-body-validation step-validation',
    'no-script-tags-in-markdown info-description info-summary source-descriptions-type workflow-workflowId',
    'workflow-description workflow-summary step-description step-stepId step-operationPath',
  ].flatMap((line) => line.split(' ').map((name) => `arazzo-${name}`));
}
