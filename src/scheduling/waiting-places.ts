/**
 * Places for requests that stay open while they wait: of one asker, of one organization, and of all.
 * No organization can take those of the others.
 */
export interface WaitingPlaces {
  /** Takes a place. Returns a function that gives it back; null: there is none. */
  take(org: string, asker: string): (() => void) | null;
}

/** The most places that may be taken at once. */
export interface MostPlaces {
  ofOne: number;
  ofOrganization: number;
  ofAll: number;
}

export function createWaitingPlaces({ ofOne, ofOrganization, ofAll }: MostPlaces): WaitingPlaces {
  const taken = new Map<string, number>();
  const count = (name: string): number => taken.get(name) ?? 0;
  return {
    take(org, asker) {
      const names = { all: 'all', org: `organization ${org}`, asker: `asker ${asker}` };
      if (count(names.all) >= ofAll || count(names.org) >= ofOrganization || count(names.asker) >= ofOne) return null;
      for (const name of Object.values(names)) taken.set(name, count(name) + 1);
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        for (const name of Object.values(names)) {
          const left = count(name) - 1;
          if (left === 0) taken.delete(name);
          else taken.set(name, left);
        }
      };
    },
  };
}
