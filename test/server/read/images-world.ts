export const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><script>alert(1)</script></svg>';

const gif = 'GIF89a\x01\0\x02\0';

export const text = (more = '') => `openapi: 3.1.0
info:
  title: Pay
  version: 1.0.0
  description: |
    ![Flow](img/flow.svg) ![Large](img/large.svg) ![Page](img/page.png) ![Far](https://cdn.acme.test/a.png)
    ![Other](https://other.test/a.png)${more}
paths: {}
`;

export const files = {
  'docs/img/flow.svg': svg,
  'docs/img/large.svg': `<svg width="1" height="1">${' '.repeat(2 ** 21)}</svg>`,
  'docs/img/page.png': '<html><script>alert(1)</script></html>',
  'img/dot.gif': gif,
};
