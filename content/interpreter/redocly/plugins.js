// Runs the rules and assertions of Redocly plugins in Redocly's own walk.
import { normalizeVisitors } from './lib/visitors.js';
import { walkDocument } from './lib/walk.js';
import { Location } from './lib/ref-utils.js';
import { normalizeTypes } from './lib/types/index.js';
import { Oas2Types } from './lib/types/oas2.js';
import { Oas3Types } from './lib/types/oas3.js';
import { Oas3_1Types } from './lib/types/oas3_1.js';
import { Oas3_2Types } from './lib/types/oas3_2.js';
import { Assertions } from './lib/rules/common/assertions/index.js';
import { asserts, buildAssertCustomFunction } from './lib/rules/common/assertions/asserts.js';
import { Source } from './outside.js';

const typesOf = { oas2: Oas2Types, oas3_0: Oas3Types, oas3_1: Oas3_1Types, oas3_2: Oas3_2Types };
// As in the sandbox: Redocly names a type that does not exist.
const deviceFlow = Oas3_2Types.DeviceAuthorization;
if (deviceFlow) deviceFlow.properties.scopes = { type: 'object', additionalProperties: { type: 'string' } };

const maxFindings = 10_001;

export default function ({ readTable, valueOf, describe, cut }) {
  const plugins = new Map();
  const instances = new Map();
  let tree = null;
  let atWork = '';

  const namesIn = (value) => Object.keys(typeof value === 'object' && value !== null ? value : {});

  function dataOf(plugin, path) {
    const { id, rules, assertions, configs } = plugin;
    if (typeof id !== 'string') throw new Error(`Plugin must define \`id\` property in ${path}.`);
    plugins.set(id, plugin);
    return {
      id,
      rules: { oas2: namesIn(rules?.oas2), oas3: namesIn(rules?.oas3) },
      assertions: namesIn(assertions),
      configs: JSON.parse(JSON.stringify(configs ?? {})),
      others: ['decorators', 'preprocessors', 'typeExtension'].filter((member) => namesIn(plugin[member]).length > 0),
    };
  }

  /** A visitor that says which rule is at work, and of which an exception ends only its own rule. */
  function watch(visitor, name, failures) {
    if (typeof visitor === 'function')
      return (...given) => {
        if (name in failures) return undefined;
        atWork = name;
        try {
          return visitor(...given);
        } catch (error) {
          failures[name] = describe(error);
          return undefined;
        }
      };
    if (typeof visitor !== 'object' || visitor === null || Array.isArray(visitor)) return visitor;
    return Object.fromEntries(Object.keys(visitor).map((key) => [key, watch(visitor[key], name, failures)]));
  }

  function read({ ruleId, severity, message, suggest, reference, location }) {
    const { source, pointer, reportOnKey } = location[0] ?? {};
    const hints = Array.isArray(suggest) ? suggest.slice(0, 5).map(cut) : [];
    const link = reference === undefined ? null : cut(reference);
    const place = [cut(source?.absoluteRef), pointer === undefined ? null : cut(pointer), reportOnKey === true];
    return [cut(ruleId), cut(severity), cut(message), hints, link, place];
  }

  return {
    /** Plugins as Redocly loads them. What a function answers may be a promise. */
    instantiate(path, module) {
      const exported = module.default || module;
      const make = typeof exported === 'function' ? exported : exported?.default;
      const isPlugin = typeof exported === 'object' && exported !== null && 'id' in exported;
      const made = isPlugin ? exported : typeof make === 'function' ? make({ contentDir: '' }) : undefined;
      instances.set(path, null);
      Promise.resolve(made).then(
        (value) => instances.set(path, { value }),
        (error) => instances.set(path, { error }),
      );
    },
    pluginsOf(path) {
      const done = instances.get(path);
      if (done === null) throw new Error('It waits for a promise that never settles.');
      if ('error' in done) throw done.error;
      const list = (Array.isArray(done.value) ? done.value : [done.value]).filter(Boolean);
      if (list.length === 0) throw new Error('The default export is not a plugin, and not a function that makes one.');
      return list.map((plugin) => dataOf(plugin, path));
    },
    /** The files of a document, and where its references lead. */
    setTree(json) {
      const { nodes, files, refs } = JSON.parse(json);
      const values = readTable(nodes);
      const sources = new Map(files.map(([path]) => [path, new Source(path, '')]));
      const documents = new Map(
        files.map(([path, parsed]) => [path, { source: sources.get(path), parsed: valueOf(values, parsed) }]),
      );
      const resolved = refs.map(([id, path, pointer, node, error, chain]) => [
        id,
        {
          resolved: error === null,
          node: valueOf(values, node),
          document: documents.get(path),
          nodePointer: pointer,
          error: error === null ? undefined : new Error(error),
          chain: chain?.map(([hop, from, at]) => ({
            node: valueOf(values, hop),
            document: documents.get(from),
            location: new Location(sources.get(from), at),
          })),
        },
      ]);
      tree = { document: documents.get(files[0][0]), resolvedRefMap: new Map(resolved) };
    },
    /** Walks the document once for all rules: their findings, and what failed. */
    walk(json) {
      const { specVersion, rules, assertions, ignored } = JSON.parse(json);
      const taken = new Set(ignored);
      const findings = [];
      const failures = Object.create(null);
      const types = normalizeTypes(typesOf[specVersion], {});
      const major = specVersion === 'oas2' ? 'oas2' : 'oas3';
      const conf = (name, more, make) => {
        atWork = name;
        try {
          const made = [make()].flat().map((visitor) => ({ ...more, visitor: watch(visitor, name, failures) }));
          // A visitor that Redocly refuses must end its own rule only.
          normalizeVisitors(made, types);
          return made;
        } catch (error) {
          failures[name] = describe(error);
          return [];
        }
      };
      const visitors = [
        ...rules.flatMap(({ plugin, name, settings }) => {
          const ruleId = `${plugin}/${name}`;
          const { severity, message } = settings;
          return conf(ruleId, { ruleId, severity, message }, () => plugins.get(plugin).rules[major][name](settings));
        }),
        ...assertions.flatMap((assertion) =>
          conf(assertion.assertionId, { ruleId: 'assertions', severity: 'error' }, () => {
            for (const part of [assertion, ...(assertion.where ?? [])])
              for (const name of Object.keys(part.assertions ?? {})) {
                const [plugin, own] = name.split('/');
                if (own) asserts[name] = buildAssertCustomFunction(plugins.get(plugin).assertions[own]);
              }
            return Assertions({ 0: assertion });
          }),
        ),
        // Redocly's own rule of the structure stands after those of plugins, and takes nodes from the rest.
        {
          ruleId: 'struct',
          severity: 'off',
          visitor: {
            any(_, { location, ignoreNextVisitorsOnNode }) {
              if (taken.has(`${location.absolutePointer}${location.pointer}`)) ignoreNextVisitorsOnNode();
            },
          },
        },
      ];
      walkDocument({
        ...tree,
        rootType: types.Root,
        normalizedVisitors: normalizeVisitors(visitors, types),
        ctx: {
          problems: {
            push(problem) {
              if (findings.length < maxFindings) findings[findings.length] = read(problem);
            },
          },
          specVersion,
          config: {},
          visitorsData: {},
        },
      });
      return { findings, failures: Object.entries(failures) };
    },
    /** The rule that was at work when the walk was stopped. */
    atWork: () => atWork,
  };
}
