import { AsyncLocalStorage } from 'node:async_hooks';
import type { Attributes, Context, Span } from '@opentelemetry/api';
import { wantsTraces } from './config/environment.ts';
import { isRegistryError } from './model/errors.ts';
import type { Compiler } from './compile/compile.ts';
import type { Bucket } from './store/bucket.ts';
import type { Log, Tracer } from './registry/registry.ts';

/**
 * Opens a tracer for OpenTelemetry if the standard variables of the environment ask for one
 * (`OTEL_EXPORTER_OTLP_ENDPOINT`), else returns null and loads nothing. The SDK reads the other variables itself. No
 * span names an organization, a resource or a person: whoever reads traces may read none of them. `close` sends the last.
 */
export async function openTracer(log: Log): Promise<(Tracer & { close(): Promise<void> }) | null> {
  if (!wantsTraces()) return null;
  const [
    { defaultTextMapGetter, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace },
    { W3CTraceContextPropagator },
    { BasicTracerProvider, BatchSpanProcessor },
    { OTLPTraceExporter },
    { defaultResource, detectResources, envDetector, resourceFromAttributes },
  ] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/core'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'stele' }))
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new BasicTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer('stele');
  const propagator = new W3CTraceContextPropagator();
  const current = new AsyncLocalStorage<Context>();

  async function run<T>(span: Span, parent: Context, work: () => Promise<T>): Promise<T> {
    try {
      return await current.run(trace.setSpan(parent, span), work);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', isRegistryError(error) ? error.code : (error as Error).name);
      throw error;
    } finally {
      span.end();
    }
  }

  return {
    async span<T>(name: string, attributes: Attributes, work: () => Promise<T>) {
      const parent = current.getStore() ?? ROOT_CONTEXT;
      return run(tracer.startSpan(name, { attributes }, parent), parent, work);
    },
    async request(request, response, routeOf, work) {
      const parent = propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
      const method = request.method!;
      const span = tracer.startSpan(
        method,
        { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } },
        parent,
      );
      await run(span, parent, async () => {
        await work();
        const route = routeOf();
        span.updateName(`${method} ${route}`);
        span.setAttributes({ 'http.route': route, 'http.response.status_code': response.statusCode });
        if (response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      });
    },
    // A collector that cannot be reached is no reason for the process to fail.
    close: () =>
      provider.shutdown().catch((error: unknown) => log('warn', 'traces not sent', { error: String(error) })),
  };
}

/** A bucket whose calls are spans: the kind of key only. */
export function traceBucket({ span }: Tracer, bucket: Bucket): Bucket {
  const kindOf = (key: string) => ({ 'stele.store.kind': key.slice(0, key.indexOf('/')) || key });
  return {
    ...bucket,
    get: (key) => span('store get', kindOf(key), () => bucket.get(key)),
    getPart: (key, start, end) => span('store get', kindOf(key), () => bucket.getPart(key, start, end)),
    putIfAbsent: (key, bytes) => span('store put', kindOf(key), () => bucket.putIfAbsent(key, bytes)),
    list: (prefix, options) => span('store list', kindOf(prefix), () => bucket.list(prefix, options)),
    delete: (key) => span('store delete', kindOf(key), () => bucket.delete(key)),
  };
}

/** A compiler whose documents are spans. */
export function traceCompiler<T extends Compiler>({ span }: Tracer, compiler: T): T {
  return {
    ...compiler,
    compile: (input, ...more) =>
      span('compile', { 'stele.type': input.type ?? 'unknown' }, () => compiler.compile(input, ...more)),
  };
}
