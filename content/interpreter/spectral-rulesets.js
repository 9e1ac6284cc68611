// What rulesets use of @stoplight/spectral-rulesets: each is extended by its name.
const { namesOfParts } = require('stele:names');

for (const name of ['oas', 'asyncapi', 'arazzo']) {
  exports[name] = { name };
  namesOfParts.set(exports[name], `spectral:${name}`);
}
