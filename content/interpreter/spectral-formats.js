// What rulesets use of @stoplight/spectral-formats: each format is known by its name.
const { namesOfParts } = require('stele:names');

const format = (name, displayName, test) => {
  const is = Object.assign((document) => typeof document === 'object' && document !== null && test(document), {
    displayName,
  });
  namesOfParts.set(is, name);
  return (exports[name] = is);
};
const version = (key, pattern) => (document) => pattern.test(String(document[key]));

format('oas2', 'OpenAPI 2.0 (Swagger)', version('swagger', /^2/));
format('oas3', 'OpenAPI 3.x', version('openapi', /^3/));
for (const minor of [0, 1, 2])
  format(`oas3_${minor}`, `OpenAPI 3.${minor}.x`, version('openapi', new RegExp(`^3\\.${minor}(?:\\.|$)`)));
format('asyncapi2', 'AsyncAPI 2.x', version('asyncapi', /^2/));
format('asyncapi3', 'AsyncAPI 3.x', version('asyncapi', /^3/));
format('arazzo1', 'Arazzo 1.x', version('arazzo', /^1/));
format('arazzo1_0', 'Arazzo 1.0.x', version('arazzo', /^1\.0/));
for (let minor = 0; minor <= 6; minor++)
  format(`aas2_${minor}`, `AsyncAPI 2.${minor}.x`, version('asyncapi', new RegExp(`^2\\.${minor}`)));
exports.aas2 = exports.asyncapi2;
const schema = (name, written, pattern) => {
  exports[name] = format(written, 'JSON Schema', version('$schema', pattern));
};
schema('jsonSchema', 'json-schema', /json-schema\.org/);
schema('jsonSchemaLoose', 'json-schema-loose', /./);
schema('jsonSchemaDraft4', 'json-schema-draft4', /draft-04/);
schema('jsonSchemaDraft6', 'json-schema-draft6', /draft-06/);
schema('jsonSchemaDraft7', 'json-schema-draft7', /draft-07/);
schema('jsonSchemaDraft2019_09', 'json-schema-draft-2019-09', /2019-09/);
schema('jsonSchemaDraft2020_12', 'json-schema-draft-2020-12', /2020-12/);
