// The process inside a sandbox that renders pages with code. The highlighter takes long to load, so
// it is a process of its own, which starts only when a page needs it.
import { startupSnapshot } from 'node:v8';
import { openHighlight } from '../../sites/render/highlight.ts';
import { renderPages } from '../../sites/render/render-pages.ts';
import { closeProcess, listen, usedMemory } from './close-process.ts';

const highlight = openHighlight();

/** Closes the process, and waits for jobs. */
function begin(): void {
  const send = closeProcess();
  listen(send, (message) => {
    if (message.type !== 'pages') throw new TypeError(`This sandbox renders pages, and not ${message.type}.`);
    send({ type: 'pages', pages: renderPages(message.pages, highlight), rss: usedMemory() });
  });
}

/** Code in the languages that pages of APIs have most: their grammars are then in the snapshot, ready for use. */
const samples = {
  bash: 'curl -X POST "$URL/pets" \\\n  -H \'Accept: */*\' -d \'{"id": 1}\' # a\n',
  http: 'GET /pets HTTP/1.1\nAccept: */*\n',
  js: 'const a = await f(`/${b}`, { c: [1, true] }); // a\nif (!a.ok) throw new Error("a");\n',
  json: '{ "a": [1, "b", true, null] }\n',
  python: 'def f(a: int) -> str:\n    """A"""\n    return f"{a} b"\n',
  ts: 'interface A {\n  a: number;\n  b?: readonly string[];\n}\n',
  yaml: 'a:\n  - b: 1 # c\n    d: "e"\n',
};

// In a build, sandboxes start from a snapshot of what is loaded until here (`make-snapshot.ts`).
if (startupSnapshot.isBuildingSnapshot()) {
  for (const [language, code] of Object.entries(samples)) highlight(code, language);
  startupSnapshot.setDeserializeMainFunction(begin);
} else begin();
