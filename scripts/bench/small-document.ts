/** A document of 5 KB, whose every operation is another in each version. */
export function smallDocument(version: string): object {
  const responses = { 200: { description: 'The payment.' }, 404: { description: 'There is none.' } };
  const paths = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [
      `/payments-${n}/latest`,
      { get: { operationId: `getPayment${n}`, summary: `Reads payment ${version}`, responses } },
    ]),
  );
  return { openapi: '3.1.0', info: { title: 'Pay', version }, servers: [{ url: 'https://api.test' }], paths };
}
