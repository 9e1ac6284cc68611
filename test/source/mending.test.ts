import { expect, test } from 'vitest';
import { mending } from '../../src/source/bring.ts';

test.each(['ENOSPC', 'EDQUOT'])('a disk that is full (%s) is no fault of the repository', async (code) => {
  const full = Object.assign(new Error('no space left on device, write'), { code });
  const work = () => Promise.reject(full);
  const mended = mending('https://git.test/acme/apis.git', new AbortController().signal, work, async () => undefined);
  await expect(mended).rejects.toMatchObject({ code: 'unavailable', message: 'The disk of the cache folder is full.' });
});
