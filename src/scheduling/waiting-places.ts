/**
 * Places for requests that stay open while they wait: of one asker, of one organization, and of all.
 * No organization can take those of the others.
 */
export interface WaitingPlaces {
  /** Takes a place. Returns a function that gives it back; null: there is none. */
  take(org: string, asker: string): (() => void) | null;
}

/** How many places may be taken at once. */
export interface MaxPlaces {
  ofOne: number;
  ofOrganization: number;
  ofAll: number;
}

export function createWaitingPlaces({ ofOne, ofOrganization, ofAll }: MaxPlaces): WaitingPlaces {
  const counts = new Map<string, number>();
  const count = (name: string): number => counts.get(name) ?? 0;
  return {
    take(org, asker) {
      const names = { all: 'all', org: `organization ${org}`, asker: `asker ${asker}` };
      if (count(names.all) >= ofAll || count(names.org) >= ofOrganization || count(names.asker) >= ofOne) return null;
      for (const name of Object.values(names)) counts.set(name, count(name) + 1);
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        for (const name of Object.values(names)) {
          const left = count(name) - 1;
          if (left === 0) counts.delete(name);
          else counts.set(name, left);
        }
      };
    },
  };
}
