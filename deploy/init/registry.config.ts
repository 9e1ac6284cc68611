// The configuration of a Stele registry. stele init wrote it; stele doctor checks it.
// All keys are in /docs/configuration of the running registry.
import { defineConfig } from '@stele-registry/stele';

export default defineConfig({
  // The address that people open. Without it, links name the address that the server listens on.
  // url: 'https://contracts.example.com',

  // How many proxies are in front of the server. Each must set X-Forwarded-For.
  // proxies: 1,

  // Everything durable is in one folder, and a copy of it is the backup. Without it: .stele beside this file.
  // store: { kind: 'fs', path: '/var/lib/stele' },

  organizations: {
    acme: {
      // What people read: 'Acme Payments'. The name above is in every URL, and stays.
      // name: 'Acme Payments',

      // Where documents come from: they are found by their content and published at each push.
      repositories: [
        // { url: '.' },
        // { url: 'https://github.com/acme/apis.git', credential: 'git' },
        // { github: 'acme/*' },
      ],

      // Who reads a new resource: private is for people and keys of this organization, public for everybody.
      defaults: { visibility: 'private' },
    },
  },

  // Secrets stay in environment variables. Only their names are written here.
  // credentials: { git: { env: 'ACME_GIT_TOKEN' } },

  // People sign in with OpenID Connect; without it, with a key.
  // login: {
  //   issuer: 'https://id.example.com',
  //   clientId: 'stele',
  //   clientSecret: { env: 'STELE_CLIENT_SECRET' },
  //   sessionSecret: { env: 'STELE_SESSION_SECRET' },
  //   organizations: { developers: [{ organization: 'acme', scopes: ['read'] }] },
  // },

  // Metrics for Prometheus, on a listener of their own.
  // metrics: { port: 9464 },
});
