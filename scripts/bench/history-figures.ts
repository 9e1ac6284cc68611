import { bars, isMet, showGoal, showValue, type BarName } from './bars.ts';
import { newest, type Noted } from './history.ts';
import { drawPlot } from './plots.ts';

const [begin, end] = ['<!-- bars: node scripts/bench/figures.ts -->\n', '<!-- /bars -->'];

/** A page with the table of bars and the plots in their place. */
export function fillPage(page: string, history: readonly Noted[]): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`The page has no ${begin.trim()} before ${end}.`);
  return `${page.slice(0, from)}${begin}\n${showTable(history)}\n${showPlots(history)}${page.slice(to)}`;
}

/** The commit whose values stand beside the newest: measured in the same night, on the same machine. */
const commitBefore = '0b2a3ef3';

/** The newest value of each bar, beside the one before, as a table in Markdown. */
function showTable(history: readonly Noted[]): string {
  const last = new Map(newest(history).map((one) => [one.row, one]));
  const before = new Map(history.filter(({ commit }) => commit === commitBefore).map(({ row, value }) => [row, value]));
  const lines = (Object.keys(bars) as BarName[]).map((name) => {
    const { what, of } = bars[name];
    const found = last.get(name);
    const value =
      found === undefined ? ['not measured', '', ''] : [showValue(found.value), verdict(name, found), found.commit];
    const old = before.has(name) ? showValue(before.get(name)!) : '';
    return `| \`${name}\` | ${what} | ${of} | ${showGoal(name)} | ${old} | ${value.join(' | ')} |`;
  });
  const head = [
    '| bar | what | value is | goal | before | seen | | commit |',
    '| --- | --- | --- | --: | --: | --: | --- | --- |',
  ];
  return `<!-- prettier-ignore -->\n${[...head, ...lines].join('\n')}\n`;
}

function showPlots(history: readonly Noted[]): string {
  return plots(history)
    .map(({ name, text }) => `![${text}](bench/${name}.svg)\n\n`)
    .join('');
}

function verdict(name: BarName, { value }: Noted): string {
  return isMet(name, value) ? 'met' : '**missed**';
}

const curves: Readonly<Record<string, { title: string; across: string; unit: string }>> = {
  'publish by versions': { title: 'A publish', across: 'versions of the resource', unit: 'ms of CPU in the server' },
  'publish by resources': {
    title: 'A publish',
    across: 'resources of the organization',
    unit: 'ms of CPU in the server',
  },
  'list by resources': { title: 'A list of 50', across: 'resources of the organization', unit: 'ms of CPU' },
  'publish by bytes': { title: 'A publish', across: 'bytes of the document', unit: 'ms of CPU with the sandbox' },
  'change by nodes': { title: 'A change', across: 'nodes that write one log', unit: 'ms of CPU of all nodes' },
};

/** The newest plot of each curve. `name`: of its file, without the ending. */
export function plots(history: readonly Noted[]): { name: string; text: string; svg: string }[] {
  const last = newest(history);
  return Object.entries(curves).flatMap(([curve, texts]) => {
    const points = last.filter(({ row }) => row === `curve ${curve}`).map(({ x, value }) => ({ x: x!, y: value }));
    if (points.length < 2) return [];
    const text = `${texts.title}, ${texts.unit}, against ${texts.across}`;
    return [{ name: curve.replaceAll(' ', '-'), text, svg: drawPlot({ ...texts, points }) }];
  });
}
