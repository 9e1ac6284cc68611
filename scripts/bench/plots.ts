/** A curve over a logarithmic axis, as SVG that also reads well on dark pages. */
export interface Plot {
  title: string;
  /** What stands below. */
  across: string;
  /** The unit of the values. */
  unit: string;
  points: readonly { x: number; y: number }[];
}

const [width, height, left, right, top, bottom] = [480, 260, 56, 20, 34, 44];

/** Draws a plot: both axes logarithmic, with a point and its value for each measurement. */
export function drawPlot({ title, across, unit, points }: Plot): string {
  const sorted = points.toSorted((a, b) => a.x - b.x);
  const [lowest, highest] = [Math.min(...sorted.map(({ y }) => y)), Math.max(...sorted.map(({ y }) => y))];
  // A flat curve must look flat, so the axis spans a factor of a hundred at least.
  const middle = Math.sqrt(lowest * highest);
  const [from, to] = [Math.min(lowest / 1.5, middle / 10), Math.max(highest * 1.5, middle * 10)];
  const placeX = scale(sorted[0]!.x, sorted.at(-1)!.x, left, width - right);
  const placeY = scale(from, to, height - bottom, top);
  const powers = [...powersBetween(from, to)].map((power) => {
    const y = place(placeY(power));
    return (
      `<line x1="${left}" x2="${width - right}" y1="${y}" y2="${y}" stroke="#8884"/>` +
      `<text x="${left - 6}" y="${y}" dy=".35em" text-anchor="end">${short(power)}</text>`
    );
  });
  const marks = sorted.map(({ x, y }) => {
    const [cx, cy] = [place(placeX(x)), place(placeY(y))];
    return (
      `<circle cx="${cx}" cy="${cy}" r="3.5"/><text x="${cx}" y="${cy}" dy="-.8em" text-anchor="middle">${short(y)}</text>` +
      `<text x="${cx}" y="${height - bottom + 18}" text-anchor="middle">${short(x)}</text>`
    );
  });
  const line = sorted.map(({ x, y }) => `${place(placeX(x))},${place(placeY(y))}`).join(' ');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" font-family="sans-serif" font-size="11" fill="#777">`,
    `<title>${title}</title>`,
    `<text x="${left}" y="18" font-size="13">${title}, ${unit}</text>`,
    ...powers,
    `<polyline points="${line}" fill="none" stroke="#3b82c4" stroke-width="2"/>`,
    ...marks,
    `<text x="${(left + width - right) / 2}" y="${height - 8}" text-anchor="middle">${across}</text>`,
    '</svg>\n',
  ].join('\n');
}

function scale(from: number, to: number, start: number, end: number): (value: number) => number {
  return (value) => start + ((end - start) * Math.log(value / from)) / Math.log(to / from);
}

function* powersBetween(from: number, to: number): Generator<number> {
  for (let power = Math.ceil(Math.log10(from)); 10 ** power <= to; power++) yield 10 ** power;
}

function place(value: number): string {
  return value.toFixed(1);
}

function short(value: number): string {
  return new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 2 }).format(value);
}
