import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import type { Registry } from '../registry/registry.ts';
import type { Observer } from './observe.ts';
import { requestIdOf } from './request.ts';

/** One kind of requests and its errors: reads, OCI, host names of sites, everything else. */
export interface Face {
  /** Answers a request. May throw anything. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Answers with an error, in the form of this face. */
  refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void;
  /** The pattern of the path of a request, for metrics. Their number is finite. */
  routeOf(request: IncomingMessage): string;
}

/**
 * Creates the only way to all faces: it lets a request in to the one that `choose` returns. Whatever
 * is thrown behind it becomes one error answer of the face (`fallback`, if none could be chosen), and
 * never ends the process.
 */
export function createDoor({ log, tracer }: Pick<Registry, 'log' | 'tracer'>, observer: Observer, fallback: Face) {
  return (request: IncomingMessage, response: ServerResponse, choose: (request: IncomingMessage) => Face): void => {
    const startedAt = performance.now();
    let face = fallback;
    const answer = async (): Promise<void> => {
      face = choose(request);
      await face.answer(request, response);
    };
    const answerOrRefuse = () => answer().catch((error: unknown) => face.refuse(request, response, error));
    const work =
      tracer === undefined
        ? answerOrRefuse()
        : tracer.request(request, response, () => face.routeOf(request), answerOrRefuse);
    work
      .catch((error: unknown) => {
        log('error', 'an error could not be answered', { request: requestIdOf(request), error: inspect(error) });
        endWithNothing(response);
      })
      .then(() => observer.observe(request, response, face.routeOf(request), startedAt))
      .catch((error: unknown) => log('error', 'a request was not counted', { error: inspect(error) }));
  };
}

/** Ends the response when the error page or its headers cannot be made. */
function endWithNothing(response: ServerResponse): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.writeHead(500, { 'Content-Length': '0', 'Cache-Control': 'no-store', Connection: 'close' }).end();
}
