// Runs first in each interpreter, before the modules of a ruleset, and gives the host its only ways in.
// It keeps what it needs of the language, so that modules that replace it harm themselves only.
(function (date) {
  'use strict';
  const { parse, stringify } = JSON;
  const { keys, defineProperty, getPrototypeOf } = Object;
  const { isArray } = Array;
  const { apply } = Reflect;
  const text = String;
  const Failure = Error;
  const call = (method, self, ...given) => apply(method, self, given);
  const { slice, indexOf } = String.prototype;
  const { then } = Promise.prototype;
  const { has, get, set } = Map.prototype;
  const maxText = 10_000;
  const maxFindings = 10_001;
  const cut = (value) => {
    try {
      return call(slice, text(value), 0, maxText);
    } catch {
      return '';
    }
  };

  // The same answer at any time and place.
  const Clock = Date;
  globalThis.Date = class Date extends Clock {
    constructor(...given) {
      if (given.length === 0) super(date);
      else super(...given);
    }
    static now() {
      return date;
    }
  };
  let seed = 1;
  Math.random = () => {
    seed = (seed * 48271) % 2147483647;
    return seed / 2147483647;
  };
  delete globalThis.performance;
  // As much of the web's as functions use: whether a text is a URL, and its parts.
  globalThis.URL = class URL {
    constructor(written, base) {
      const whole =
        /^[a-z][a-z0-9+.-]*:/i.test(written) || base === undefined ? text(written) : join(text(base), text(written));
      const match = /^([a-z][a-z0-9+.-]*:)(?:\/\/(?:[^/?#@]*@)?([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/i.exec(whole);
      if (match === null || /\s/.test(match[2] ?? '') || (/^(?:https?|wss?|ftp):$/i.test(match[1]) && !match[2]))
        throw new TypeError('Invalid URL');
      const [, protocol, host = '', path, search = '', hash = ''] = match;
      this.protocol = protocol.toLowerCase();
      this.host = host.toLowerCase();
      this.hostname = this.host.replace(/:\d+$/, '');
      this.port = /:(\d+)$/.exec(host)?.[1] ?? '';
      this.pathname = path === '' && host !== '' ? '/' : path;
      this.search = search;
      this.hash = hash;
      this.origin = host === '' ? 'null' : `${this.protocol}//${this.host}`;
      this.href = `${this.protocol}${host === '' ? '' : `//${this.host}`}${this.pathname}${search}${hash}`;
    }
    toString() {
      return this.href;
    }
    toJSON() {
      return this.href;
    }
  };
  function join(base, written) {
    const { origin, pathname, href, protocol } = new URL(base);
    if (written === '') return href;
    if (written[0] === '#') return href.replace(/#.*$/, '') + written;
    if (origin === 'null') return protocol + written;
    return origin + (written[0] === '/' ? written : pathname.replace(/[^/]*$/, '') + written);
  }
  const nothing = () => undefined;
  globalThis.console = { log: nothing, info: nothing, warn: nothing, error: nothing, debug: nothing, trace: nothing };

  function describe(error) {
    let name = '';
    let message = '';
    let stack = '';
    try {
      if (typeof error === 'object' && error !== null) {
        name = cut(error.name);
        message = cut(error.message);
        stack = cut(error.stack);
      } else message = cut(error);
    } catch {
      message = 'It cannot be printed.';
    }
    return { name, message, stack };
  }

  // CommonJS: the host defines each file as a function.
  const files = new Map();
  const loaded = new Map();
  let paths = new Set();
  let parts = {};
  const endings = ['', '.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.json', '/index.js', '/index.mjs', '/index.ts'];
  function resolve(base, name) {
    if (!/^\.{0,2}\//.test(name)) {
      if (typeof parts[name] === 'string') return parts[name];
      throw new Failure(
        `${name} is not available. A ruleset can import its own files by their relative paths, and ${keys(parts)
          .filter((part) => !part.startsWith('stele:'))
          .join(', ')}. ` +
          `Bundle it into one file: npx esbuild ${base} --bundle --format=esm --external:@stoplight/* --outfile=bundled.mjs`,
      );
    }
    const steps = base.split('/').slice(0, -1);
    for (const step of name.split('/')) {
      if (step === '..') steps.pop();
      else if (step !== '.') steps.push(step);
    }
    const path = steps.join('/');
    for (const ending of endings) if (paths.has(path + ending) || call(has, files, path + ending)) return path + ending;
    const typed = path.replace(/\.([cm]?)js$/, '.$1ts');
    if (paths.has(typed)) return typed;
    throw new Failure(`${name} is not there. Put it at ${path} of the same repository.`);
  }
  function requireFrom(base) {
    return (name) => {
      const path = call(has, files, name) && base === '' ? name : resolve(base, text(name));
      if (call(has, loaded, path)) return call(get, loaded, path).exports;
      const file = call(get, files, path);
      if (file === undefined) throw new Failure(`${path} is an ES module. Read it with import, in place of require().`);
      const module = { exports: {} };
      call(set, loaded, path, module);
      file(module.exports, requireFrom(path), module, path, '');
      return module.exports;
    };
  }

  // The document: a table of containers, in which [3] stands for the container at 3.
  const tables = new Map();
  function readTable(nodes) {
    for (let at = 0; at < nodes.length; at++) {
      const node = nodes[at];
      const names = isArray(node) ? null : keys(node);
      const size = names === null ? node.length : names.length;
      for (let index = 0; index < size; index++) {
        const key = names === null ? index : names[index];
        const child = node[key];
        if (typeof child !== 'object' || child === null) continue;
        const value = nodes[child[0]];
        if (key === '__proto__')
          defineProperty(node, key, { value, enumerable: true, writable: true, configurable: true });
        else node[key] = value;
      }
    }
    return nodes;
  }
  // [] stands for a missing value.
  const valueOf = (nodes, written) => (typeof written !== 'object' || written === null ? written : nodes[written[0]]);

  const functions = new Map();
  let document = null;
  let running = null;

  function contextOf(rule, path) {
    return { path, document: document.document, documentInventory: document, rule };
  }

  function add(at, result) {
    if (result === undefined || result === null) return;
    const list = isArray(result) ? result : [result];
    for (let index = 0; index < list.length && running.findings.length < maxFindings; index++) {
      const { message, path } = list[index] ?? {};
      const way = isArray(path) ? path : null;
      const steps = [];
      for (let step = 0; way !== null && step < way.length && step < 1000; step++)
        steps[step] = typeof way[step] === 'number' ? way[step] : cut(way[step]);
      running.findings[running.findings.length] = [at, cut(message), way === null ? null : steps];
    }
  }

  function fail(error) {
    running.failure ??= describe(error);
  }

  const guarded =
    (work) =>
    (...given) => {
      try {
        return stringify({ value: work(...given) ?? null });
      } catch (error) {
        return stringify({ failure: describe(error) });
      }
    };

  const api = {
    define: (path, file) => call(set, files, text(path), file),
    namesOf: guarded((path) => {
      const module = requireFrom('')(path);
      return typeof module === 'object' || typeof module === 'function' ? keys(module ?? {}) : [];
    }),
    require: (path) => requireFrom('')(path),
    begin: guarded((json) => {
      const given = parse(json);
      paths = new Set(given.paths);
      parts = given.parts;
    }),
    resolve: guarded((base, name) => resolve(base, name)),
    // A module's default export, as a function under a name.
    take: guarded((name, module) => {
      let fn = module?.default ?? module;
      if (typeof fn !== 'function' && typeof fn?.default === 'function') fn = fn.default;
      if (typeof fn !== 'function') throw new TypeError('The default export is not a function.');
      call(set, functions, name, fn);
    }),
    // A ruleset that is a module, as data: functions become their names.
    ruleset: guarded((path, taken, module) => {
      const names = call(get, loaded, 'stele:names')?.exports.namesOfParts ?? new Map();
      const own = new Map();
      const used = new Set(parse(taken));
      const ours = [];
      const toData = (value, within) => {
        if (typeof value === 'function') {
          if (call(has, names, value)) return call(get, names, value);
          if (!call(has, own, value)) {
            const base = /^\w+$/.test(value.name) && value.name !== 'default' ? value.name : 'function';
            let name = base;
            for (let at = 2; used.has(name); at++) name = `${base}${at}`;
            used.add(name);
            ours.push(name);
            call(set, own, value, name);
            call(set, functions, `${path}#${name}`, value);
          }
          return call(get, own, value);
        }
        if (typeof value !== 'object' || value === null) return value;
        if (call(has, names, value)) return call(get, names, value);
        if (value instanceof RegExp) return text(value);
        if (within.length > 200) throw new Failure('The ruleset contains itself, or is nested too deeply.');
        const inside = [...within, value];
        if (isArray(value)) return value.map((item) => toData(item, inside));
        const data = {};
        for (const key of keys(value)) {
          const member = key === 'functions' && within.length === 0 ? undefined : toData(value[key], inside);
          if (member !== undefined) data[key] = member;
        }
        return data;
      };
      let value = module?.default ?? module;
      if (value?.__esModule && value.default) value = value.default;
      if (typeof value !== 'object' || value === null || isArray(value))
        throw new TypeError('The default export is not a ruleset: an object with "rules" or "extends".');
      const ruleset = toData(value, []);
      return { ruleset, functions: ours };
    }),
    setDocument: guarded((json) => {
      const { resolved, unresolved, source, formats } = parse(json);
      call(set, tables, 'resolved', readTable(resolved.nodes));
      call(
        set,
        tables,
        'unresolved',
        unresolved === null ? call(get, tables, 'resolved') : readTable(unresolved.nodes),
      );
      const all = call(get, loaded, 'stele:spectral-formats')?.exports ?? {};
      const set1 = new Set(formats.flatMap((name) => (all[name] === undefined ? [name] : [all[name], name])));
      const whole = valueOf(call(get, tables, 'resolved'), resolved.root);
      const written = valueOf(call(get, tables, 'unresolved'), (unresolved ?? resolved).root);
      const inner = { data: written, source, formats: set1, diagnostics: [], getRangeForJsonPath: nothing };
      document = {
        document: inner,
        resolved: whole,
        unresolved: written,
        source,
        formats: set1,
        errors: [],
        diagnostics: [],
        graph: null,
        referencedDocuments: {},
        findAssociatedItemForPath: () => null,
      };
    }),
    // One rule: a function on all its nodes.
    run: guarded((json) => {
      const { name, table, options, rule, nodes } = parse(json);
      seed = 1;
      running = { findings: [], failure: null, waiting: 0 };
      const fn = call(get, functions, name);
      const values = call(get, tables, table);
      const mine = running;
      for (let at = 0; at < nodes.length && running.failure === null; at++) {
        const [written, path] = nodes[at];
        try {
          const result = fn(valueOf(values, written), options, contextOf(rule, path));
          if (typeof result === 'object' && result !== null && typeof result.then === 'function') {
            mine.waiting++;
            call(
              then,
              Promise.resolve(result),
              (value) => {
                mine.waiting--;
                add(at, value);
              },
              (error) => {
                mine.waiting--;
                fail(error);
              },
            );
          } else add(at, result);
        } catch (error) {
          fail(error);
        }
      }
    }),
    // What the rule found, after all promises.
    finish: guarded(() => running),
    // Redocly's part, which is loaded where a ruleset has plugins.
    extend: (path, core, { default: make }) => {
      call(set, loaded, path, { exports: core });
      const more = make({ readTable, valueOf, describe, cut });
      for (const name of keys(more)) api[name] = guarded(more[name]);
      return '{}';
    },
  };
  return api;
});
