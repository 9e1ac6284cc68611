/** One line of `stele doctor`. A problem stops some of the registry, a warning does not. */
export interface Check {
  name: string;
  state: 'ok' | 'warning' | 'problem';
  detail: string;
  /** What to do. Null where nothing is to be done. */
  advice: string | null;
}

export function ok(name: string, detail: string): Check {
  return { name, state: 'ok', detail, advice: null };
}

export function warning(name: string, detail: string, advice: string): Check {
  return { name, state: 'warning', detail, advice };
}

export function problem(name: string, detail: string, advice: string): Check {
  return { name, state: 'problem', detail, advice };
}

/** What an error says, in one line. */
export function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!;
}
