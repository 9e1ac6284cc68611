/** A frame of a stack, as V8's profiler names it. */
export interface Frame {
  functionName: string;
  url: string;
}

/** What V8's profiler gives. */
export interface Profile {
  nodes: readonly { id: number; callFrame: Frame; children?: readonly number[] }[];
  samples?: readonly number[];
}

interface Flame {
  name: string;
  samples: number;
  above: Map<string, Flame>;
}

const [width, row] = [960, 16];
/** Part of the whole under which a frame is not drawn. */
const smallest = 0.003;
const ignored = new Set(['(idle)', '(program)']);

/** Draws a profile as a flame graph: callers below, as wide as their share of all samples. Hovering says a frame's name and share. */
export function drawFlames(title: string, profile: Profile, nameOf: (frame: Frame) => string): string {
  const base = fold(profile, nameOf);
  const boxes: string[] = [];
  let depth = 0;
  const draw = (flame: Flame, from: number, level: number): void => {
    const share = flame.samples / base.samples;
    if (share < smallest) return;
    depth = Math.max(depth, level);
    boxes.push(box(flame.name, { from, share, level }));
    let at = from;
    for (const child of [...flame.above.values()].sort((one, other) => other.samples - one.samples)) {
      draw(child, at, level + 1);
      at += child.samples / base.samples;
    }
  };
  draw(base, 0, 0);
  const height = (depth + 1) * row + 30;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" font-family="sans-serif" font-size="10">`,
    `<title>${escape(title)}</title>`,
    `<text x="4" y="16" font-size="13" fill="#777">${escape(title)}</text>`,
    `<g transform="translate(0 ${height})">`,
    ...boxes,
    '</g>',
    '</svg>\n',
  ].join('\n');
}

/** All samples as one tree, whose frames of the same name are one. */
function fold({ nodes, samples = [] }: Profile, nameOf: (frame: Frame) => string): Flame {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const base: Flame = { name: 'all', samples: 0, above: new Map() };
  for (const sample of samples) {
    const stack: string[] = [];
    for (let id: number | undefined = sample; callers.has(id!); id = callers.get(id!))
      stack.unshift(nameOf(byId.get(id!)!.callFrame));
    if (ignored.has(stack[0] ?? '(idle)')) continue;
    base.samples++;
    let flame = base;
    for (const name of stack) {
      const child: Flame = flame.above.get(name) ?? { name, samples: 0, above: new Map() };
      flame.above.set(name, child);
      child.samples++;
      flame = child;
    }
  }
  return base;
}

function box(name: string, { from, share, level }: { from: number; share: number; level: number }): string {
  const [x, w, y] = [from * width, share * width, -(level + 1) * row];
  const letters = Math.floor(w / 5.6);
  const label = name.length <= letters ? name : letters > 3 ? `${name.slice(0, letters - 1)}…` : '';
  const says = `${name}, ${(100 * share).toFixed(1)} %`;
  const text = label === '' ? '' : `<text x="${(x + 2).toFixed(1)}" y="${y + 11}" fill="#222">${escape(label)}</text>`;
  const size = `x="${x.toFixed(1)}" y="${y}" width="${Math.max(w - 0.5, 0.3).toFixed(1)}" height="${row - 1}"`;
  return `<g><title>${escape(says)}</title><rect ${size} fill="${colourOf(name)}"/>${text}</g>`;
}

/** Blue for the garbage collector, green for Node, and warm for Stele and its packages. */
function colourOf(name: string): string {
  if (name.startsWith('(')) return '#8fb4dd';
  return /[\w-]+\.ts$/.test(name) ? '#f0b27a' : / /.test(name) ? '#f3d38c' : '#a9d18e';
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
