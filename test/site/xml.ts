/** An element of an XML document, as `readXml` reads it. */
export interface XmlElement {
  name: string;
  attributes: Record<string, string>;
  /** Text of its own, its children's left out. */
  text: string;
  children: XmlElement[];
}

const names: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Reads a document of elements, attributes and text, and throws where it is not well-formed (XML 1.0): enough for what Stele writes, and no more. */
export function readXml(document: string): XmlElement {
  if (/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(document))
    throw new Error('A character that XML lacks.');
  const declaration = '<?xml version="1.0" encoding="utf-8"?>\n';
  if (!document.startsWith(declaration)) throw new Error('No declaration.');
  const root: XmlElement = { name: '', attributes: {}, text: '', children: [] };
  const open = [root];
  const pattern = /<(\/?)([A-Za-z][\w:.-]*)((?:\s+[A-Za-z][\w:.-]*="[^"<]*")*)\s*(\/?)>|([^<]+)/gy;
  pattern.lastIndex = declaration.length;
  while (pattern.lastIndex < document.length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(document);
    if (match === null) throw new Error(`Not well-formed: ${document.slice(at, at + 80)}`);
    const [, closes, name, attributes, isEmpty, text] = match;
    const current = open.at(-1)!;
    if (text !== undefined) {
      current.text += unescape(text);
      continue;
    }
    if (closes) {
      if (current.name !== name || attributes || isEmpty) throw new Error(`</${name}> closes <${current.name}>.`);
      open.pop();
      continue;
    }
    const pairs = [...attributes!.matchAll(/([\w:.-]+)="([^"]*)"/g)].map(([, key, value]) => [key!, unescape(value!)]);
    if (new Set(pairs.map(([key]) => key)).size !== pairs.length) throw new Error(`<${name}> has an attribute twice.`);
    const element: XmlElement = { name: name!, attributes: Object.fromEntries(pairs), text: '', children: [] };
    current.children.push(element);
    if (!isEmpty) open.push(element);
  }
  if (open.length !== 1 || root.children.length !== 1 || root.text.trim() !== '') throw new Error('Not one element.');
  return root.children[0]!;
}

function unescape(text: string): string {
  return text.replace(/&(?:#(\d+);|([a-z]+);)?/g, (whole, code: string | undefined, name: string | undefined) => {
    if (code !== undefined) return String.fromCodePoint(Number(code));
    if (name !== undefined && Object.hasOwn(names, name)) return names[name]!;
    throw new Error(`${whole} is no reference.`);
  });
}

/** The children of that name. */
export function childrenOf(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter((child) => child.name === name);
}

/** The text of its one child of that name. */
export function textIn(element: XmlElement, name: string): string {
  const found = childrenOf(element, name);
  if (found.length !== 1) throw new Error(`<${element.name}> has ${found.length} of <${name}>.`);
  return found[0]!.text;
}
