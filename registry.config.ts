import { defineConfig } from './src/config.ts';

/** Stele's own registry: it publishes content/ from this repository's history. */
export default defineConfig({
  organizations: {
    stele: {
      name: 'Stele',
      repositories: [{ url: '.', path: 'content' }],
      defaults: { visibility: 'public' },
    },
  },
});
