import { defineConfig } from 'vitest/config';
import { createSummary } from './reporter.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    reporters: ['default', createSummary({ strict: process.env.CI === 'true' })],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 3,
  },
});
