import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createMetrics } from '../../src/server/observe.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('../../deploy/prometheus/', import.meta.url));
const promtool = '/usr/bin/promtool';
const hasPromtool = existsSync(promtool);

test.skipIf(!hasPromtool)(
  `Prometheus takes its configuration, and each alert is raised by what it is about and by nothing else${hasPromtool ? '' : ' (skipped: promtool is not installed)'}`,
  async () => {
    await run(promtool, ['check', 'config', '--lint=all', '--lint-fatal', 'prometheus.yaml'], { cwd: folder });
    const { stdout } = await run(promtool, ['test', 'rules', 'alerts.test.yaml'], { cwd: folder });
    expect(stdout).toContain('SUCCESS');
  },
);

test('alerts and the dashboard name metrics that Stele has', async () => {
  const metrics = createMetrics({ counts: () => ({ running: 0, waiting: 0 }) }, () => ({
    logs: { bytes: 1, limit: 2 },
  }));
  metrics.observe('GET', '/', 200, 0.1);
  const text = await metrics.render();
  const all = new Set([...text.matchAll(/^([a-z_0-9]+)[{ ]/gm)].map(([, name]) => name!));
  for (const file of ['alerts.yaml', 'dashboard.json']) {
    const named = (await readFile(`${folder}${file}`, 'utf8')).match(/\b(?:stele|nodejs|process)_[a-z0-9_]+/g)!;
    expect(named.length).toBeGreaterThan(8);
    expect([...new Set(named)].filter((name) => !all.has(name))).toEqual([]);
  }
});
