/**
 * Rulesets with hostile code, for `hostile-rulesets.ts`: each piece of code at each place where a
 * ruleset can have some.
 */

/** Statements. `value` is the node and `found` the list of findings, where there are such. */
const statements: Readonly<Record<string, string>> = {
  loop: 'for (;;);',
  'loop-caught': 'for (;;) try { for (;;); } catch {} finally { for (;;); }',
  'loop-generator':
    'function* all() { for (let at = 0; ; at++) yield at; } for (const at of all()) globalThis.at = at;',
  'loop-proxy': 'Object.keys(new Proxy({}, { ownKeys: () => { for (;;); } }));',
  'loop-sort':
    'Array.from({ length: 3e5 }, (_, at) => at).sort(() => { for (let at = 0; at < 1e4; at++); return 1; });',
  'loop-microtasks': '(function again() { Promise.resolve().then(again); })();',
  backtracking: 'found.push({ message: /^(a+)+$/.test("a".repeat(50) + "!") });',
  'backtracking-lookahead': '/^(?=(a|a)*b)(?:a|aa)+$/.exec("a".repeat(80));',
  'backtracking-replace': '"x".repeat(1e5).replace(/(x+x+)+y/g, "");',
  'backtracking-backreference': '/^(.*)*\\1$/s.test("ab".repeat(60));',
  recursion: '(function down() { down(); down(); })();',
  'recursion-text': 'const deep = { toString: () => `${deep}` }; `${deep}`;',
  'recursion-json': 'JSON.parse("[".repeat(1e6)); ',
  'recursion-getter': '({ get a() { return this.a; } }).a;',
  'recursion-sort': '[3, 2, 1].sort(function again() { return [2, 1].sort(again), 1; });',
  'memory-buffer': 'new ArrayBuffer(1e9);',
  'memory-list': 'const all = []; for (;;) all.push(new Array(1e5).fill("x"));',
  'memory-text': 'let text = "xyz"; for (;;) text += text;',
  'memory-repeat': 'found.push({ message: "x".repeat(2 ** 29) });',
  'memory-closures': 'let all = null; for (;;) { const before = all; all = () => before; }',
  'memory-bigint': 'found.push({ message: String(7n ** (10n ** 7n)) });',
  'memory-map': 'const all = new Map(); for (let at = 0; ; at++) all.set(`${at}`, { at });',
  eval: 'eval("for (;;);");',
  'eval-function': 'Function("return process")().exit(1);',
  'eval-constructor': 'value.constructor.constructor("return this")().process.exit(1);',
  'eval-indirect': '(0, eval)("globalThis.process ?? globalThis.require")("node:fs");',
  'import-dynamic': 'import("node:child_process").then((it) => it.execSync("id"));',
  require: 'require("node:fs").writeFileSync("/tmp/x", "x");',
  'no-such': 'process.kill(process.pid); fetch("http://127.0.0.1");',
  webassembly: 'new WebAssembly.Memory({ initial: 65536 });',
  atomics: 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);',
  timer: 'setTimeout(() => found.push({ message: "late" }), 1e9);',
  'prototype-json': 'Object.prototype.toJSON = () => { for (;;); }; Array.prototype.toJSON = () => "x";',
  'prototype-list':
    'Array.prototype.push = () => { throw 1; }; Array.prototype[Symbol.iterator] = function* () { for (;;) yield this; };',
  'prototype-map': 'Map.prototype.get = Map.prototype.set = Map.prototype.has = () => { throw 1; };',
  'prototype-message': 'Object.defineProperty(Object.prototype, "message", { get() { for (;;); } });',
  'prototype-then':
    'Object.prototype.then = function (done) { done(this); }; Promise.prototype.then = () => { for (;;); };',
  'prototype-error':
    'Error.prototype.toString = () => { for (;;); }; Error.prepareStackTrace = () => { throw 1; }; throw new Error("x");',
  'prototype-null': 'Object.setPrototypeOf(Array.prototype, null); delete globalThis.JSON; delete globalThis.Object;',
  'prototype-poison': '({}).__proto__.constructor = null; Function.prototype.call = Function.prototype.apply = null;',
  'throw-null': 'throw null;',
  'throw-proxy': 'throw new Proxy({}, { get: () => { throw 1; } });',
  'throw-long': 'throw new Error("x".repeat(1e7));',
  'throw-getter': 'throw { get message() { for (;;); }, get stack() { return this; } };',
  'million-findings': 'for (let at = 0; at < 1e6; at++) found.push({ message: `${at}` });',
  'long-findings': 'for (let at = 0; at < 2e4; at++) found.push({ message: "y".repeat(1e6) });',
  'getter-findings':
    'for (let at = 0; at < 1e5; at++) found.push({ get message() { return `${Math.random()}`; }, get path() { throw 1; } });',
  'finding-proxy': 'found.push(new Proxy([], { get: (_, key) => (key === "length" ? 2 ** 53 : "x") }));',
  'finding-path':
    'const path = []; path.push(path, {}, Symbol("x"), -1, "__proto__", "constructor"); found.push({ message: "p", path });',
  'finding-long-path': 'found.push({ message: "p", path: Array.from({ length: 1e6 }, (_, at) => at) });',
  'finding-text': 'found.push({ message: "\\u0000\\u001b[31m</script>\\ud800" + String.fromCharCode(0x202e) });',
  'finding-symbol': 'found.push({ message: Symbol("x") }, { message: { toString: () => { for (;;); } } });',
  'other-answers':
    'globalThis.calls = (globalThis.calls ?? 0) + 1; found.push({ message: `${calls} ${Date.now()} ${Math.random()}` });',
  'change-document':
    'Object.freeze(value); for (const key in value) try { delete value[key]; value[key] = value; } catch {}',
};

/** The files of a ruleset around the statements. */
const places: Readonly<Record<string, (code: string) => object>> = {
  'in a function': (code) => spectral(`export default (value) => { const found = []; ${code} return found; };`),
  'in an async function': (code) =>
    spectral(`export default async (value) => { await null; const found = []; ${code} return found; };`),
  'when a module is read': (code) => spectral(`const value = {}, found = []; ${code}\nexport default () => found;`),
  'in a rule of a plugin': (code) =>
    plugin(
      `export default { id: 'p', rules: { oas3: { r: () => ({ Info: (value, { report, location }) => { const found = []; ${code} for (const { message, path } of found) report({ message, location: path ? location.child(path) : location }); } }) } } };`,
    ),
};

const spectral = (code: string, more: object = {}): object => ({
  'x-stele-modules': { 'f.mjs': code, ...more },
  'x-stele-functions': { f: 'f.mjs' },
  rules: { hostile: JSON.parse('{"given": "$.info", "severity": "warn", "then": {"function": "f"}}') as unknown },
});
const plugin = (code: string): object => ({
  'x-stele-modules': { 'p.mjs': code },
  'x-stele-plugins': [{ path: 'p.mjs' }],
  rules: { 'p/r': 'warn' },
});

/** Whole rulesets of their own kind. */
const wholes: Readonly<Record<string, object>> = {
  'a promise that never settles': spectral('export default () => new Promise(() => {});'),
  'a module that waits for ever': spectral('await new Promise(() => {}); export default () => [];'),
  'a module that waits for a rejection': spectral('await Promise.reject(new Error("no")); export default () => [];'),
  'a thenable': spectral('export default () => ({ then(done) { for (;;) done([]); } });'),
  'a thenable of thenables': spectral('const all = { then(done) { done(all); } }; export default () => all;'),
  'modules in a cycle': spectral(
    'import { b } from "./b.mjs"; export const a = b; export default () => [{ message: `${b}` }];',
    { 'b.mjs': 'import { a } from "./f.mjs"; export const b = a;' },
  ),
  'CommonJS in a cycle': spectral('const b = require("./b.cjs"); module.exports = () => b();', {
    'b.cjs': 'const f = require("./f.mjs"); module.exports = f;',
  }),
  'a module of 5 MB': spectral(`export default () => [{ message: ${JSON.stringify('z'.repeat(5_000_000))} }];`),
  'a module of 5 MB of code': spectral(`${'var a = [1, 2, {}];'.repeat(270_000)} export default () => [];`),
  'a module that is nested deeply': spectral(`${'('.repeat(200_000)}1${')'.repeat(200_000)}; export default () => [];`),
  '600 modules': spectral(
    'import "./m0.mjs"; export default () => [];',
    Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`m${at}.mjs`, `import "./m${at + 1}.mjs";`])),
  ),
  'names that are special': spectral('export default () => [];', {
    '__proto__.mjs': '',
    'stele:prelude': 'for (;;);',
    '../../etc/x.mjs': '',
  }),
  'a module instead of ours': spectral('import "@stoplight/spectral-core"; export default () => [];', {
    'stele:spectral-core': 'for (;;);',
  }),
  'a class as function': spectral('export default class { constructor() { for (;;); } }'),
  'a proxy as function': spectral(
    'export default new Proxy(() => [], { apply: () => { for (;;); }, get: () => { for (;;); } });',
  ),
  'an async generator': spectral('export default async function* () { for (;;) yield 1; }'),
  'a syntax error': spectral('export default () => {{{'),
  'no text': spectral(''),
  'a plugin that is a function for ever': plugin('export default function make() { for (;;); }'),
  'a plugin that never comes': plugin('export default () => new Promise(() => {});'),
  'a plugin with an id that is a getter': plugin('export default { get id() { for (;;); } };'),
  'a plugin with rules that are a proxy': plugin(
    'export default { id: "p", rules: { oas3: new Proxy({}, { ownKeys: () => Array.from({ length: 1e6 }, (_, at) => `${at}`), getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) }) } };',
  ),
  'a plugin with a large configuration': plugin(
    'export default { id: "p", configs: { all: { rules: Object.fromEntries(Array.from({ length: 1e6 }, (_, at) => [`rule/${at}`, {}])) } } };',
  ),
  'a plugin whose visitors are in a cycle': plugin(
    'const v = { enter() {} }; v.Operation = v; export default { id: "p", rules: { oas3: { r: () => ({ Root: v }) } } };',
  ),
  'a plugin that breaks the walk': plugin(
    'export default { id: "p", rules: { oas3: { r: () => ({ any: (node, ctx) => { ctx.type.properties = new Proxy({}, { ownKeys: () => { for (;;); } }); } }) } } };',
  ),
  'a plugin that visits for ever': plugin(
    'export default { id: "p", rules: { oas3: { r: () => ({ Info: (node) => { node.contact = { get name() { return node; } }; for (;;) node.license = node; } }) } } };',
  ),
  'a plugin that grows the document': plugin(
    'export default { id: "p", rules: { oas3: { r: () => ({ Root: (node) => { let at = node; for (let i = 0; i < 1e5; i++) { at.paths = { [`/${i}`]: { get: {} } }; node.components = { schemas: { A: at } }; at = { properties: { a: at } }; } } }) } } };',
  ),
  'a plugin that reports elsewhere': plugin(
    'export default { id: "p", rules: { oas3: { r: () => ({ Info: (_, { report }) => report({ ruleId: "struct", message: "x", location: { source: { absoluteRef: "/etc/passwd" }, pointer: "#/../../x" } }) }) } } };',
  ),
};

export const hostileFunctions: readonly { name: string; ruleset: object }[] = [
  ...Object.entries(statements).flatMap(([name, code]) =>
    Object.entries(places).map(([place, make]) => ({ name: `${name} ${place}`, ruleset: make(code) })),
  ),
  ...Object.entries(wholes).map(([name, ruleset]) => ({ name, ruleset })),
];
