import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test, vi } from 'vitest';
import { openTracer, traceBucket, traceCompiler } from '../src/trace.ts';
import { documentOf, openApi, unlimited } from './server/v1/api.ts';
import { createTestRegistry } from './server/registry.ts';

interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
}

/** A collector of traces: what OTLP over HTTP sends to it. */
async function openCollector() {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(await text(request));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    spans: () =>
      bodies.flatMap((body) =>
        (JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans.flatMap(
          ({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans),
        ),
      ),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const quiet = () => undefined;
afterEach(() => void vi.unstubAllEnvs());

test('without the variables there is no tracer, and with OTEL_SDK_DISABLED neither', async () => {
  expect(await openTracer(quiet)).toBeNull();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:9');
  vi.stubEnv('OTEL_SDK_DISABLED', 'true');
  expect(await openTracer(quiet)).toBeNull();
});

test('a collector that cannot be reached is logged, and fails nothing', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:9');
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '50');
  const logged: unknown[] = [];
  const tracer = (await openTracer((level, event) => void logged.push([level, event])))!;
  await tracer.span('work', {}, async () => undefined);
  await tracer.close();
  expect(logged).toEqual([['warn', 'traces not sent']]);
});

test('a publish is one trace that goes on the trace of its request, and names nothing private', async () => {
  await using collector = await openCollector();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
  vi.stubEnv('OTEL_SERVICE_NAME', 'contracts');
  const tracer = (await openTracer(quiet))!;
  const plain = createTestRegistry(unlimited);
  const registry = { ...plain, tracer, compiler: traceCompiler(tracer, plain.compiler) };
  await using api = await openApi(registry);
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  await api.call('POST', '/v1/apis', { body: { name: 'Secret plans', slug: 'secret-plans' } });
  const published = await api.call('POST', '/v1/apis/secret-plans/spec', {
    body: { document: documentOf('1.0.0') },
    headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
  });
  expect(published.status).toBe(201);
  await traceBucket(tracer, plain.bucket).get('objects/sha256/aa/bb');
  await tracer.close();

  const spans = collector.spans();
  const ours = spans.filter((span) => span.traceId === traceId);
  const request = ours.find(({ name }) => name === 'POST /v1/apis/{api}/spec')!;
  const publish = ours.find(({ name }) => name === 'publish')!;
  expect(request.parentSpanId).toBe('b7ad6b7169203331');
  expect(publish.parentSpanId).toBe(request.spanId);
  expect(ours.find(({ name }) => name === 'compile')!.parentSpanId).toBe(publish.spanId);
  const attributes = new Map(request.attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
  expect(Object.fromEntries(attributes)).toEqual({
    'http.request.method': 'POST',
    'http.route': '/v1/apis/{api}/spec',
    'http.response.status_code': 201,
  });
  expect(spans.find(({ name }) => name === 'store get')!.attributes).toMatchObject([
    { key: 'stele.store.kind', value: { stringValue: 'objects' } },
  ]);
  const sent = collector.bodies.join('');
  expect(sent).toContain('contracts');
  for (const secret of ['secret-plans', 'acme', api.admin, 'Secret plans']) expect(sent).not.toContain(secret);
});
